// A browser starts no worker from the file system. There, a hidden frame does for the search what a worker would do.
// The name has to stay: it tells Material's offline plugin that it need not load such a script from elsewhere.
if (location.protocol === "file:") {
  window.IFrameWorker = window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.document.open();
      inside.document.write(`<script>postMessage = (data) => parent.postMessage(data, "*")<\/script><script src="${url}"><\/script>`);
      inside.document.close();
      this.loaded = new Promise((resolve) => (inside.onload = resolve));
      window.addEventListener("message", ({ source, data }) => {
        if (source === inside) this.dispatchEvent(new MessageEvent("message", { data }));
      });
    }

    postMessage(data) {
      const inside = this.frame.contentWindow;
      this.loaded.then(() => inside.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
