//! The device: adapter, queue, and the few things we ask of it.

use wgpu::util::DeviceExt;

use super::GpuError;

/// A graphics processor, ready to compute.
pub struct Device {
    pub(super) device: wgpu::Device,
    pub(super) queue: wgpu::Queue,
    info: wgpu::AdapterInfo,
    limits: wgpu::Limits,
    /// Whether kernels are compiled with checks of every index.
    checked: bool,
    /// Whether kernels can be timed.
    pub(super) timestamps: bool,
}

impl Device {
    /// The fastest adapter there is. Kernels check their indices in debug builds only.
    pub fn new() -> Result<Device, GpuError> {
        Device::with_checks(cfg!(debug_assertions))
    }

    /// The same, with a say in whether kernels check every index (about a seventh slower).
    pub fn with_checks(checked: bool) -> Result<Device, GpuError> {
        let mut descriptor = wgpu::InstanceDescriptor::new_without_display_handle();
        descriptor.backends = wgpu::Backends::PRIMARY;
        // Checking an indirect dispatch costs a dispatch of its own; ours come from our own kernel.
        descriptor.flags = wgpu::InstanceFlags::empty();
        let instance = wgpu::Instance::new(descriptor);
        let options = wgpu::RequestAdapterOptions {
            power_preference: wgpu::PowerPreference::HighPerformance,
            ..Default::default()
        };
        let adapter = pollster::block_on(instance.request_adapter(&options))
            .map_err(|error| GpuError::NoAdapter { reason: error.to_string() })?;
        let info = adapter.get_info();
        let wanted = wgpu::Features::TIMESTAMP_QUERY | wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES;
        let timestamps = adapter.features().contains(wanted);
        let limits = adapter.limits();
        let needed = MOST_BUFFERS;
        if limits.max_storage_buffers_per_shader_stage < needed {
            let limit = limits.max_storage_buffers_per_shader_stage;
            return Err(GpuError::TooFewBindings { adapter: info.name, limit, needed });
        }
        let descriptor = wgpu::DeviceDescriptor {
            label: Some("littoral"),
            required_features: if timestamps { wanted } else { wgpu::Features::empty() },
            required_limits: limits.clone(),
            memory_hints: wgpu::MemoryHints::Performance,
            ..Default::default()
        };
        let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))
            .map_err(|error| GpuError::NoDevice { adapter: info.name.clone(), reason: error.to_string() })?;
        Ok(Device { device, queue, info, limits, checked, timestamps })
    }

    /// Name of the adapter, and the driver behind it.
    pub fn name(&self) -> String {
        let driver = [self.info.driver.as_str(), self.info.driver_info.as_str()].join(" ");
        format!("{} ({})", self.info.name, driver.trim())
    }

    /// Whether this is a processor drawn by a CPU.
    pub fn is_software(&self) -> bool {
        self.info.device_type == wgpu::DeviceType::Cpu
    }

    pub(super) fn adapter(&self) -> String {
        self.info.name.clone()
    }

    /// Largest buffer that a kernel may see, bytes.
    pub(super) fn largest_binding(&self) -> u64 {
        // Kernels count in u32.
        let limits = &self.limits;
        limits.max_storage_buffer_binding_size.min(limits.max_buffer_size).min(u64::from(u32::MAX))
    }

    /// An empty buffer for kernels to work on.
    pub(super) fn buffer(&self, label: &str, bytes: u64, extra: wgpu::BufferUsages) -> wgpu::Buffer {
        self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some(label),
            size: bytes.max(16),
            usage: wgpu::BufferUsages::STORAGE | extra,
            mapped_at_creation: false,
        })
    }

    /// A buffer with content.
    pub(super) fn filled<T: bytemuck::NoUninit>(
        &self,
        label: &str,
        content: &[T],
        usage: wgpu::BufferUsages,
    ) -> wgpu::Buffer {
        let bytes: &[u8] = bytemuck::cast_slice(content);
        // An empty binding is not allowed: a few zeros stand in.
        let contents = if bytes.is_empty() { &[0; 16] } else { bytes };
        self.device.create_buffer_init(&wgpu::util::BufferInitDescriptor {
            label: Some(label),
            contents,
            usage,
        })
    }

    pub(super) fn module(&self, label: &str, text: &str) -> wgpu::ShaderModule {
        let descriptor = wgpu::ShaderModuleDescriptor {
            label: Some(label),
            source: wgpu::ShaderSource::Wgsl(text.into()),
        };
        if self.checked {
            return self.device.create_shader_module(descriptor);
        }
        // SAFETY: every index in our kernels is bounded by a table that the host or `cell_at` keeps in range, and
        // every loop ends; the same texts run with checks in the tests.
        unsafe {
            self.device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked())
        }
    }

    /// Blocks until the device has done all that was sent.
    pub(super) fn wait(&self) -> Result<(), GpuError> {
        let done = self.device.poll(wgpu::PollType::wait_indefinitely());
        done.map(|_| ()).map_err(|error| GpuError::Lost(error.to_string()))
    }

    /// Reads a mappable buffer, once the device has written it.
    pub(super) fn read<R>(
        &self,
        buffer: &wgpu::Buffer,
        use_: impl FnOnce(&[u8]) -> R,
    ) -> Result<R, GpuError> {
        let (send, receive) = std::sync::mpsc::channel();
        buffer.map_async(wgpu::MapMode::Read, .., move |result| {
            // The receiver waits below.
            let _ = send.send(result);
        });
        self.wait()?;
        let lost = |error: &dyn std::fmt::Display| GpuError::Lost(error.to_string());
        receive.recv().map_err(|error| lost(&error))?.map_err(|error| lost(&error))?;
        let view = buffer.get_mapped_range(..).map_err(|error| lost(&error))?;
        let result = use_(&view);
        drop(view);
        buffer.unmap();
        Ok(result)
    }
}

/// Storage buffers of the kernel that has most, `force`.
const MOST_BUFFERS: u32 = 20;

/// A buffer as a kernel sees it.
#[derive(Clone, Copy)]
pub(super) struct Binding<'a> {
    buffer: &'a wgpu::Buffer,
    kind: wgpu::BufferBindingType,
}

pub(super) fn read(buffer: &wgpu::Buffer) -> Binding<'_> {
    Binding { buffer, kind: wgpu::BufferBindingType::Storage { read_only: true } }
}

pub(super) fn write(buffer: &wgpu::Buffer) -> Binding<'_> {
    Binding { buffer, kind: wgpu::BufferBindingType::Storage { read_only: false } }
}

pub(super) fn uniform(buffer: &wgpu::Buffer) -> Binding<'_> {
    Binding { buffer, kind: wgpu::BufferBindingType::Uniform }
}

/// A compiled kernel with the buffers it works on.
pub(super) struct Kernel {
    pub name: &'static str,
    pipeline: wgpu::ComputePipeline,
    groups: Vec<wgpu::BindGroup>,
}

impl Kernel {
    /// Entry point `name` of `module`; `groups` are its bindings, numbered as listed.
    pub fn new(
        device: &Device,
        name: &'static str,
        module: &wgpu::ShaderModule,
        groups: &[&[Binding]],
    ) -> Kernel {
        let layouts: Vec<wgpu::BindGroupLayout> = groups.iter().map(|group| layout(device, group)).collect();
        let some: Vec<Option<&wgpu::BindGroupLayout>> = layouts.iter().map(Some).collect();
        let pipeline_layout = device.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: Some(name),
            bind_group_layouts: &some,
            immediate_size: 0,
        });
        let pipeline = device.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some(name),
            layout: Some(&pipeline_layout),
            module,
            entry_point: Some(name),
            compilation_options: wgpu::PipelineCompilationOptions {
                // Workgroup memory starts at zero: the reductions in `force` count on it.
                zero_initialize_workgroup_memory: true,
                ..Default::default()
            },
            cache: None,
        });
        let bind = |(layout, group): (&wgpu::BindGroupLayout, &&[Binding])| {
            let entries: Vec<wgpu::BindGroupEntry> = (0..)
                .zip(group.iter())
                .map(|(binding, b)| wgpu::BindGroupEntry { binding, resource: b.buffer.as_entire_binding() })
                .collect();
            let descriptor = wgpu::BindGroupDescriptor { label: Some(name), layout, entries: &entries };
            device.device.create_bind_group(&descriptor)
        };
        let groups = layouts.iter().zip(groups).map(bind).collect();
        Kernel { name, pipeline, groups }
    }

    fn bind(&self, pass: &mut wgpu::ComputePass) {
        pass.set_pipeline(&self.pipeline);
        for (index, group) in (0..).zip(&self.groups) {
            pass.set_bind_group(index, group, &[]);
        }
    }

    /// Runs on as many workgroups as the device itself says, at `offset` in `counts`.
    pub fn run_indirect(&self, pass: &mut wgpu::ComputePass, counts: &wgpu::Buffer, offset: u64) {
        self.bind(pass);
        pass.dispatch_workgroups_indirect(counts, offset);
    }

    pub fn run(&self, pass: &mut wgpu::ComputePass, groups: [u32; 2]) {
        self.bind(pass);
        pass.dispatch_workgroups(groups[0], groups[1], 1);
    }
}

fn layout(device: &Device, group: &[Binding]) -> wgpu::BindGroupLayout {
    let entries: Vec<wgpu::BindGroupLayoutEntry> = (0..)
        .zip(group)
        .map(|(binding, b)| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::COMPUTE,
            ty: wgpu::BindingType::Buffer { ty: b.kind, has_dynamic_offset: false, min_binding_size: None },
            count: None,
        })
        .collect();
    device
        .device
        .create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries })
}

/// Workgroups along x and y that hold `groups` of them; a dimension holds at most 65,535.
pub(super) fn folded(groups: u32) -> [u32; 2] {
    [groups.min(GROUPS_IN_ROW), groups.div_ceil(GROUPS_IN_ROW)]
}

pub(super) const GROUPS_IN_ROW: u32 = 32768;
