// Runs functions of modules that TVM compiled, for this program's architecture.
//
// Standard input has calls, standard output their answers, in the byte order of the machine:
//
//   call:   u32 module, u32 length and bytes of the module's path (length 0 once it is loaded), u32 length and bytes of the function's
//           name, u32 number of arguments, and each argument
//   argument: u32 kind, and 0: i64 (a scalar), 1 or 2: u32 type code, u32 bits, u32 dimensions, i64 each dimension (a tensor); the elements
//           of kind 1 follow, kind 2 is a result
//   answer: i32 0 and the elements of all results, or another i32, u32 length and a text
//
// The modules call the functions below, as in TVM's own runtime: one thread, and memory from the C library.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The layout of DLPack's tensors (dlpack/dlpack.h, version 0) and of TVM's arguments (tvm/runtime/c_runtime_api.h).
typedef struct {
  int32_t type, id;
} Device;
typedef struct {
  void* data;
  Device device;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t offset;
} Tensor;
typedef union {
  int64_t integer;
  void* handle;
} Value;
typedef int (*Function)(Value*, int*, int, Value*, int*, void*);

enum { kCpu = 1, kInteger = 0, kTensor = 7, kScalar = 0, kInput = 1, kOutput = 2, kMaxArguments = 16, kMaxDims = 8 };

static char last_error[512];

void TVMAPISetLastError(const char* text) { snprintf(last_error, sizeof last_error, "%s", text); }

static void* aligned(size_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 128, bytes ? bytes : 1) != 0) exit(3);
  return memory;
}

void* TVMBackendAllocWorkspace(int type, int id, uint64_t bytes, int code, int bits) {
  (void)type, (void)id, (void)code, (void)bits;
  return aligned(bytes);
}

int TVMBackendFreeWorkspace(int type, int id, void* memory) {
  (void)type, (void)id;
  free(memory);
  return 0;
}

typedef struct {
  void* sync;
  int32_t tasks;
} Environment;

int TVMBackendParallelLaunch(int (*task)(int, Environment*, void*), void* data, int tasks) {
  (void)tasks;
  Environment one = {NULL, 1};
  return task(0, &one, data);
}

static void get(void* to, size_t bytes) {
  if (bytes && fread(to, 1, bytes, stdin) != bytes) exit(0);
}

static uint32_t get_u32(void) {
  uint32_t word;
  get(&word, sizeof word);
  return word;
}

static int64_t get_i64(void) {
  int64_t word;
  get(&word, sizeof word);
  return word;
}

static char* get_text(void) {
  const uint32_t length = get_u32();
  char* text = aligned((size_t)length + 1);
  get(text, length);
  text[length] = 0;
  return text;
}

// Sets a pointer through which a module calls a function of the runtime.
static void give(void* module, const char* name, void* function) {
  void** pointer = dlsym(module, name);
  if (pointer) *pointer = function;
}

static void* load(const char* path) {
  void* module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!module) return NULL;
  give(module, "__TVMAPISetLastError", (void*)TVMAPISetLastError);
  give(module, "__TVMBackendParallelLaunch", (void*)TVMBackendParallelLaunch);
  give(module, "__TVMBackendAllocWorkspace", (void*)TVMBackendAllocWorkspace);
  give(module, "__TVMBackendFreeWorkspace", (void*)TVMBackendFreeWorkspace);
  return module;
}

static void* module_of(uint32_t index, const char* path) {
  static void** modules;
  static uint32_t count;
  if (index >= count) {
    modules = realloc(modules, (index + 1) * sizeof *modules);
    if (!modules) exit(3);
    while (count <= index) modules[count++] = NULL;
  }
  if (*path && !modules[index]) modules[index] = load(path);
  return modules[index];
}

typedef struct {
  uint32_t kind;
  Tensor tensor;
  int64_t shape[kMaxDims];
  size_t bytes;
} Argument;

static void get_tensor(Argument* argument) {
  Tensor* tensor = &argument->tensor;
  memset(tensor, 0, sizeof *tensor);
  tensor->device.type = kCpu;
  tensor->code = (uint8_t)get_u32();
  tensor->bits = (uint8_t)get_u32();
  tensor->lanes = 1;
  tensor->ndim = (int32_t)get_u32();
  if (tensor->ndim > kMaxDims) exit(3);
  size_t elements = 1;
  for (int32_t i = 0; i < tensor->ndim; ++i) elements *= (size_t)(argument->shape[i] = get_i64());
  tensor->shape = argument->shape;
  argument->bytes = elements * (((size_t)tensor->bits + 7) / 8);
  tensor->data = aligned(argument->bytes);
  if (argument->kind == kInput) {
    get(tensor->data, argument->bytes);
  } else {
    // Fills results, so that an element that a module does not write is visible: 1431655765 in int32.
    memset(tensor->data, 0x55, argument->bytes);
  }
}

static void fail(const char* text) {
  const int32_t status = 1;
  const uint32_t length = (uint32_t)strlen(text);
  fwrite(&status, sizeof status, 1, stdout);
  fwrite(&length, sizeof length, 1, stdout);
  fwrite(text, 1, length, stdout);
}

static void call(void* module, const char* name, Argument* arguments, uint32_t count) {
  Value values[kMaxArguments], result;
  int types[kMaxArguments], result_type = kInteger;
  Function function = module ? (Function)dlsym(module, name) : NULL;
  if (!function) return fail(dlerror());
  for (uint32_t i = 0; i < count; ++i) {
    types[i] = arguments[i].kind == kScalar ? kInteger : kTensor;
    if (types[i] == kInteger) {
      values[i].integer = arguments[i].shape[0];
    } else {
      values[i].handle = &arguments[i].tensor;
    }
  }
  if (function(values, types, (int)count, &result, &result_type, NULL) != 0) return fail(last_error);
  const int32_t done = 0;
  fwrite(&done, sizeof done, 1, stdout);
  for (uint32_t i = 0; i < count; ++i) {
    if (arguments[i].kind == kOutput) fwrite(arguments[i].tensor.data, 1, arguments[i].bytes, stdout);
  }
}

int main(void) {
  static Argument arguments[kMaxArguments];
  for (;;) {
    const uint32_t index = get_u32();
    char* path = get_text();
    char* name = get_text();
    const uint32_t count = get_u32();
    if (count > kMaxArguments) return 3;
    for (uint32_t i = 0; i < count; ++i) {
      arguments[i].kind = get_u32();
      if (arguments[i].kind == kScalar) {
        arguments[i].shape[0] = get_i64();
      } else {
        get_tensor(&arguments[i]);
      }
    }
    call(module_of(index, path), name, arguments, count);
    fflush(stdout);
    for (uint32_t i = 0; i < count; ++i) {
      if (arguments[i].kind != kScalar) free(arguments[i].tensor.data);
    }
    free(path);
    free(name);
  }
}
