/* Programs that size themselves by the memory of the machine learn the sandbox's limit: free, psutil, Node.js, sysconf. Without a limit they see the machine. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define NEXT(name) ({ static __typeof__(&name) next; if (next == NULL) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name); next; })
#define MEMINFO "/proc/meminfo"

struct memory { unsigned long long total, used, cached, reclaimable; };

static const struct { const char *limit, *usage, *details, *cached, *reclaimable; } GROUPS[] = {
  {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current", "/sys/fs/cgroup/memory.stat", "\nfile ", "\ninactive_file "},
  {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes", "/sys/fs/cgroup/memory/memory.stat", "\ntotal_cache ",
   "\ntotal_inactive_file "},
};

static int slurp(const char *path, char *text, size_t size) {
  int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  /* The first line is found as the others are. */
  text[0] = '\n';
  ssize_t length = read(fd, text + 1, size - 2);
  close(fd);
  text[length > 0 ? length + 1 : 1] = '\0';
  return length > 0;
}

static unsigned long long field(const char *text, const char *name) {
  const char *found = strstr(text, name);
  return found == NULL ? 0 : strtoull(found + strlen(name), NULL, 10);
}

static int limited(struct memory *memory) {
  char text[8192];
  struct sysinfo machine;
  if (NEXT(sysinfo)(&machine) != 0) return 0;
  for (size_t at = 0; at < sizeof GROUPS / sizeof *GROUPS; at++) {
    if (!slurp(GROUPS[at].limit, text, sizeof text)) continue;
    memory->total = strtoull(text, NULL, 10);
    if (memory->total == 0 || memory->total >= (unsigned long long)machine.totalram * machine.mem_unit) return 0;
    if (!slurp(GROUPS[at].usage, text, sizeof text)) return 0;
    memory->used = strtoull(text, NULL, 10);
    if (memory->used > memory->total) memory->used = memory->total;
    if (!slurp(GROUPS[at].details, text, sizeof text)) text[0] = '\0';
    memory->cached = field(text, GROUPS[at].cached);
    memory->reclaimable = field(text, GROUPS[at].reclaimable);
    if (memory->cached > memory->used) memory->cached = memory->used;
    if (memory->reclaimable > memory->used) memory->reclaimable = memory->used;
    return 1;
  }
  return 0;
}

static int meminfo(void) {
  struct memory memory;
  if (!limited(&memory)) return -1;
  int fd = memfd_create("meminfo", MFD_CLOEXEC);
  if (fd < 0) return -1;
  unsigned long long available = memory.total - memory.used;
  dprintf(fd,
          "MemTotal: %14llu kB\nMemFree: %15llu kB\nMemAvailable: %10llu kB\nBuffers: %15u kB\nCached: %16llu kB\nSwapCached: %12u kB\nActive: %16llu kB\n"
          "Inactive: %14llu kB\nSwapTotal: %13u kB\nSwapFree: %14u kB\nShmem: %17u kB\nSReclaimable: %10u kB\n",
          memory.total >> 10, available >> 10, (available + memory.reclaimable) >> 10, 0, memory.cached >> 10, 0,
          (memory.used - memory.reclaimable) >> 10, memory.reclaimable >> 10, 0, 0, 0, 0);
  lseek(fd, 0, SEEK_SET);
  return fd;
}

static int is_meminfo(const char *path) { return path != NULL && strcmp(path, MEMINFO) == 0; }

/* The mode is an argument only where a file is created. */
#define MODE(flags, mode) \
  mode_t mode = 0; \
  if ((flags) & (O_CREAT | __O_TMPFILE)) { va_list rest; va_start(rest, flags); mode = va_arg(rest, mode_t); va_end(rest); }

#define OPEN(name) \
  int name(const char *path, int flags, ...) { \
    MODE(flags, mode) \
    int fd = is_meminfo(path) ? meminfo() : -1; \
    return fd >= 0 ? fd : NEXT(name)(path, flags, mode); \
  }
#define OPENAT(name) \
  int name(int folder, const char *path, int flags, ...) { \
    MODE(flags, mode) \
    int fd = is_meminfo(path) ? meminfo() : -1; \
    return fd >= 0 ? fd : NEXT(name)(folder, path, flags, mode); \
  }
#define FOPEN(name) \
  FILE *name(const char *path, const char *mode) { \
    int fd = is_meminfo(path) ? meminfo() : -1; \
    return fd >= 0 ? fdopen(fd, mode) : NEXT(name)(path, mode); \
  }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)
FOPEN(fopen)
FOPEN(fopen64)

long sysconf(int name) {
  struct memory memory;
  if ((name != _SC_PHYS_PAGES && name != _SC_AVPHYS_PAGES) || !limited(&memory)) return NEXT(sysconf)(name);
  return (long)((name == _SC_PHYS_PAGES ? memory.total : memory.total - memory.used) / (unsigned long)NEXT(sysconf)(_SC_PAGESIZE));
}

int sysinfo(struct sysinfo *found) {
  struct memory memory;
  int result = NEXT(sysinfo)(found);
  if (result != 0 || !limited(&memory)) return result;
  found->totalram = memory.total / found->mem_unit;
  found->freeram = (memory.total - memory.used) / found->mem_unit;
  found->bufferram = found->sharedram = found->totalswap = found->freeswap = 0;
  return result;
}
