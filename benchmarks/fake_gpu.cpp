// A GPU that holds nothing, for PyTorch's builds without CUDA: autograd asks a device for its guard, and PyTorch
// whether there is a GPU at all. The answers are of one GPU whose tensors have no memory (FakeTensorMode).
#include <ATen/detail/CUDAHooksInterface.h>
#include <c10/core/impl/DeviceGuardImplInterface.h>
#include <c10/core/impl/FakeGuardImpl.h>

namespace c10::impl {
using FakeCuda = FakeGuardImpl<DeviceType::CUDA>;
template <>
thread_local DeviceIndex FakeCuda::current_device_ = 0;
template <>
thread_local std::array<StreamId, kFakeGuardImplMaxDevices> FakeCuda::current_streams_ = {};
C10_REGISTER_GUARD_IMPL(CUDA, FakeCuda)
} // namespace c10::impl

namespace at {
struct FakeCudaHooks : CUDAHooksInterface {
  explicit FakeCudaHooks(CUDAHooksArgs) {}
  void init() const override {}
  bool isBuilt() const override { return true; }
  bool isAvailable() const override { return true; }
  bool hasCUDA() const override { return true; }
  bool hasPrimaryContext(DeviceIndex) const override { return true; }
  DeviceIndex deviceCount() const override { return 1; }
  DeviceIndex current_device() const override { return 0; }
  DeviceIndex getCurrentDevice() const override { return 0; }
  DeviceIndex exchangeDevice(DeviceIndex) const override { return 0; }
  DeviceIndex maybeExchangeDevice(DeviceIndex) const override { return 0; }
  void setCurrentDevice(DeviceIndex) const override {}
};
// PyTorch looks for its hooks under this name.
using CUDAHooks = FakeCudaHooks;
REGISTER_CUDA_HOOKS(CUDAHooks)
} // namespace at
