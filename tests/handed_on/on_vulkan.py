"""Runs SPIR-V of a kernel of fixed sizes on a device of Vulkan, which may be the CPU, by a Python with `vulkan`."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator

import numpy as np

import affdsl as af
from tests.handed_on import gpu
from tests.handed_on.lowered import run, tool
from tests.native import Argument

SCRIPT = r"""
import base64, json, sys
from vulkan import *

buffers, launches = json.load(sys.stdin)
info = VkApplicationInfo(apiVersion=VK_MAKE_VERSION(1, 3, 0))
instance = vkCreateInstance(VkInstanceCreateInfo(pApplicationInfo=info), None)
gpu = vkEnumeratePhysicalDevices(instance)[0]
queues = VkDeviceQueueCreateInfo(queueFamilyIndex=0, queueCount=1, pQueuePriorities=[1.0])
short = VkPhysicalDeviceVulkan12Features(storageBuffer8BitAccess=True, shaderInt8=True, shaderFloat16=True)
storage = VkPhysicalDeviceVulkan11Features(storageBuffer16BitAccess=True, pNext=short)
features = VkPhysicalDeviceFeatures2(features=vkGetPhysicalDeviceFeatures(gpu), pNext=storage)
made = VkDeviceCreateInfo(queueCreateInfoCount=1, pQueueCreateInfos=[queues], pNext=features)
device = vkCreateDevice(gpu, made, None)
queue = vkGetDeviceQueue(device, 0, 0)
HOST = VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT
types = vkGetPhysicalDeviceMemoryProperties(gpu).memoryTypes
kind = next(k for k in range(len(types)) if types[k].propertyFlags & HOST == HOST)


def allocated(data):
    size = max(len(data), 4)
    usage = VK_BUFFER_USAGE_STORAGE_BUFFER_BIT
    buffer = vkCreateBuffer(device, VkBufferCreateInfo(size=size, usage=usage), None)
    needs = vkGetBufferMemoryRequirements(device, buffer).size
    memory = vkAllocateMemory(device, VkMemoryAllocateInfo(allocationSize=needs, memoryTypeIndex=kind), None)
    vkBindBufferMemory(device, buffer, memory, 0)
    shown = vkMapMemory(device, memory, 0, size, 0)
    shown[: len(data)] = data
    return buffer, size, shown


held = [allocated(base64.b64decode(data)) for data in buffers]


def launch(code, name, grid, bindings):
    count, stage = len(bindings), VK_SHADER_STAGE_COMPUTE_BIT
    storage = VK_DESCRIPTOR_TYPE_STORAGE_BUFFER
    slots = [VkDescriptorSetLayoutBinding(k, storage, 1, stage) for k in range(count)]
    layout = vkCreateDescriptorSetLayout(device, VkDescriptorSetLayoutCreateInfo(pBindings=slots), None)
    outer = vkCreatePipelineLayout(device, VkPipelineLayoutCreateInfo(pSetLayouts=[layout]), None)
    shader = vkCreateShaderModule(device, VkShaderModuleCreateInfo(codeSize=len(code), pCode=code), None)
    step = VkPipelineShaderStageCreateInfo(stage=stage, module=shader, pName=name)
    made = VkComputePipelineCreateInfo(stage=step, layout=outer)
    pipeline = vkCreateComputePipelines(device, VK_NULL_HANDLE, 1, [made], None)[0]
    sizes = [VkDescriptorPoolSize(storage, count)]
    pool = vkCreateDescriptorPool(device, VkDescriptorPoolCreateInfo(maxSets=1, pPoolSizes=sizes), None)
    wanted = VkDescriptorSetAllocateInfo(descriptorPool=pool, pSetLayouts=[layout])
    chosen = vkAllocateDescriptorSets(device, wanted)[0]
    for k, b in enumerate(bindings):
        given = VkDescriptorBufferInfo(held[b][0], 0, held[b][1])
        write = VkWriteDescriptorSet(
            dstSet=chosen, dstBinding=k, descriptorCount=1, descriptorType=storage, pBufferInfo=[given]
        )
        vkUpdateDescriptorSets(device, 1, [write], 0, None)
    commands = vkCreateCommandPool(device, VkCommandPoolCreateInfo(queueFamilyIndex=0), None)
    wanted = VkCommandBufferAllocateInfo(commandPool=commands, commandBufferCount=1)
    command = vkAllocateCommandBuffers(device, wanted)[0]
    vkBeginCommandBuffer(command, VkCommandBufferBeginInfo())
    vkCmdBindPipeline(command, VK_PIPELINE_BIND_POINT_COMPUTE, pipeline)
    vkCmdBindDescriptorSets(command, VK_PIPELINE_BIND_POINT_COMPUTE, outer, 0, 1, [chosen], 0, None)
    vkCmdDispatch(command, *grid)
    vkEndCommandBuffer(command)
    vkQueueSubmit(queue, 1, [VkSubmitInfo(pCommandBuffers=[command])], VK_NULL_HANDLE)
    vkQueueWaitIdle(queue)


for code, name, grid, bindings in launches:
    launch(base64.b64decode(code), name, grid, bindings)
name = vkGetPhysicalDeviceProperties(gpu).deviceName
json.dump([name, [base64.b64encode(bytes(shown)).decode() for _, _, shown in held]], sys.stdout)
"""


def device(python: str) -> str:
    """What the device is called. Raises AssertionError where there is none."""
    name: str = json.loads(run(python, "-c", SCRIPT, given=b"[[], []]"))[0]
    return name


def call(python: str, kernel: af.Kernel, *arguments: Argument) -> None:
    """Run all launches of a kernel, one after the other; the arrays among the arguments are changed.

    Raises AssertionError where there is no device, or a launch cannot be made.
    """
    text = gpu.lowered(gpu.on_gpu(kernel), "spirv")
    types = [type.partition(",")[0] for type in re.findall(r"%arg\d+: (memref<[^,>]*|\w+)", _host(text))]
    buffers = [_bytes(x, type) for x, type in zip(arguments, types, strict=True)]
    launches = [*_launches(text, buffers)]
    given = json.dumps(([base64.b64encode(data).decode() for data in buffers], launches)).encode()
    _, after = json.loads(run(python, "-c", SCRIPT, given=given))
    for argument, data in zip(arguments, after[: len(arguments)], strict=True):
        if isinstance(argument, np.ndarray):
            found = np.frombuffer(base64.b64decode(data), argument.dtype)
            argument[...] = found[: argument.size].reshape(argument.shape)


def _host(text: str) -> str:
    found = re.search(r"^  func\.func .*?^  }$", text, re.M | re.S)
    assert found is not None, "it launches something"
    return found[0]


def _launches(text: str, buffers: list[bytes]) -> Iterator[tuple[str, str, list[int], list[int]]]:
    """Code, name, blocks, and buffers of each launch; numbers get buffers of their own."""
    host = _host(text)
    numbers = dict(re.findall(r"(%\w+) = arith\.constant (\S+)", host))
    launch = r"gpu\.launch_func +@(\w+)::@(\w+) blocks in \((.*?)\) threads in \((.*?)\) +args\((.*)\)$"
    for module, name, blocks, threads, given in re.findall(launch, host, re.M):
        size = ", ".join(numbers[each] for each in threads.split(", "))
        bindings = []
        for value, type in re.findall(r"(%\w+) : (memref<[^,>]*|\w+)", given):
            if value.startswith("%arg"):
                bindings.append(int(value[4:]))
            else:
                bindings.append(len(buffers))
                buffers.append(_bytes(float(numbers[value]), type))
        code = base64.b64encode(_code(text, module, size)).decode()
        yield code, name, [int(numbers[each]) for each in blocks.split(", ")], bindings


def _code(text: str, module: str, threads: str) -> bytes:
    """A module in SPIR-V's own format, with as many threads in a block as the launch says."""
    found = re.search(rf"^  spirv\.module @__spv__{module} .*?^  }}$", text, re.M | re.S)
    assert found is not None, f"{module} has code"
    sized = re.sub(r'("LocalSize"), [\d, ]+', rf"\1, {threads}", found[0])
    return run(tool("mlir-translate", 22), "--no-implicit-module", "--serialize-spirv", given=sized.encode())


def _bytes(x: Argument | float, type: str) -> bytes:
    if isinstance(x, np.ndarray):
        return np.ascontiguousarray(x).tobytes()
    dtype = {"index": "i4"}.get(type, type[0] + str(int(type[1:]) // 8) if type[1:].isdigit() else type)
    return np.array(x).astype(dtype).tobytes()
