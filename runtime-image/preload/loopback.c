/*
 * Makes loopback over Unix sockets answer as TCP does, where socket_wrapper, which is loaded after this library, does not:
 *   bind     fails with EADDRINUSE while another socket holds the port; on `::` it serves clients of 127.0.0.1 too
 *   connect  fails with ECONNREFUSED when nothing listens
 *   send     succeeds once after the other side has closed, so that data which has arrived can still be read
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define NEXT(name) ({ static __typeof__(&name) next; if (next == NULL) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name); next; })
#define LISTENS 0x10000
#define CONNECTED 3

static int option(int fd, int name) {
  int value = 0;
  socklen_t size = sizeof value;
  return NEXT(getsockopt)(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
}

static int is_stream(int fd) {
  int family = option(fd, SO_DOMAIN);
  return (family == AF_INET || family == AF_INET6) && option(fd, SO_TYPE) == SOCK_STREAM;
}

static const struct sockaddr_in *mapped(const struct sockaddr *address, socklen_t size) {
  if (getenv("SOCKET_WRAPPER_DIR") == NULL || address == NULL || address->sa_family != AF_INET || size < sizeof(struct sockaddr_in)) return NULL;
  return (const struct sockaddr_in *)address;
}

/* Where the library puts the socket of a port: its families have different letters. */
static void name_of(char *name, size_t size, int fd, int is_ipv6, unsigned port) {
  const char *letters = is_ipv6 ? "XY" : "TU";
  snprintf(name, size, "/%c01%04X", letters[option(fd, SO_TYPE) == SOCK_DGRAM], port);
}

/* socket_wrapper removes the socket of another program and takes its place. The system lists the sockets that are open. */
static int is_held(int fd, unsigned port) {
  char name[16], ipv6_name[16], path[200], line[512];
  int is_reused = option(fd, SO_REUSEADDR) == 1, is_found = 0;
  name_of(name, sizeof name, fd, 0, port);
  name_of(ipv6_name, sizeof ipv6_name, fd, 1, port);
  snprintf(path, sizeof path, "%s%s", getenv("SOCKET_WRAPPER_DIR"), name);
  int is_link = readlink(path, line, sizeof line) > 0;
  FILE *sockets = fopen("/proc/net/unix", "re");
  if (sockets == NULL) return 0;
  const char *folder = getenv("SOCKET_WRAPPER_DIR");
  while (!is_found && fgets(line, sizeof line, sockets) != NULL) {
    unsigned flags, state;
    path[0] = '\0';
    if (sscanf(line, "%*x: %*x %*x %x %*x %x %*u %199s", &flags, &state, path) != 3) continue;
    size_t length = strlen(folder);
    if (strncmp(path, folder, length) != 0 || (strcmp(path + length, name) != 0 && !(is_link && strcmp(path + length, ipv6_name) == 0))) continue;
    /* An accepted connection has the path of its server, and outlives it. */
    is_found = flags & LISTENS || state != CONNECTED || !is_reused;
  }
  fclose(sockets);
  return is_found;
}

/* As in TCP, a server on all addresses of IPv6 has those of IPv4 too, unless its socket says otherwise. */
static int has_both(int fd, const struct sockaddr *address, socklen_t size) {
  if (getenv("SOCKET_WRAPPER_DIR") == NULL || address == NULL || address->sa_family != AF_INET6 || size < sizeof(struct sockaddr_in6)) return 0;
  int is_alone = 0;
  socklen_t length = sizeof is_alone;
  NEXT(getsockopt)(fd, IPPROTO_IPV6, IPV6_V6ONLY, &is_alone, &length);
  return !is_alone && IN6_IS_ADDR_UNSPECIFIED(&((const struct sockaddr_in6 *)address)->sin6_addr);
}

/* Clients of 127.0.0.1 look for the name of their family. A link that leads nowhere is of a server that has ended. */
static void link_ipv4(int fd) {
  struct sockaddr_in6 bound;
  socklen_t size = sizeof bound;
  char target[16], name[16], path[200];
  if (NEXT(getsockname)(fd, (struct sockaddr *)&bound, &size) != 0 || bound.sin6_family != AF_INET6) return;
  name_of(target, sizeof target, fd, 1, ntohs(bound.sin6_port));
  name_of(name, sizeof name, fd, 0, ntohs(bound.sin6_port));
  snprintf(path, sizeof path, "%s%s", getenv("SOCKET_WRAPPER_DIR"), name);
  if (access(path, F_OK) != 0) unlink(path);
  (void)!symlink(target + 1, path);
}

int bind(int fd, const struct sockaddr *address, socklen_t size) {
  const struct sockaddr_in *ip = mapped(address, size);
  if (ip != NULL && ip->sin_port != 0 && option(fd, SO_DOMAIN) == AF_INET && option(fd, SO_REUSEPORT) != 1 && is_held(fd, ntohs(ip->sin_port))) {
    errno = EADDRINUSE;
    return -1;
  }
  int result = NEXT(bind)(fd, address, size);
  if (result == 0 && has_both(fd, address, size)) link_ipv4(fd);
  return result;
}

static int is_loopback(const struct sockaddr *address, socklen_t size) {
  const struct sockaddr_in *ip = mapped(address, size);
  if (ip != NULL) return ntohl(ip->sin_addr.s_addr) >> 24 == 127 || ip->sin_addr.s_addr == INADDR_ANY;
  if (getenv("SOCKET_WRAPPER_DIR") == NULL || address == NULL || address->sa_family != AF_INET6 || size < sizeof(struct sockaddr_in6)) return 0;
  const struct in6_addr *host = &((const struct sockaddr_in6 *)address)->sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(host) || IN6_IS_ADDR_UNSPECIFIED(host);
}

int connect(int fd, const struct sockaddr *address, socklen_t size) {
  int result = NEXT(connect)(fd, address, size);
  if (result == -1 && (errno == EHOSTUNREACH || errno == ENETUNREACH) && is_loopback(address, size)) errno = is_stream(fd) ? ECONNREFUSED : errno;
  return result;
}

/* The priority means nothing to a Unix socket, and belongs to the connection, whatever descriptors it has. It remembers that one send was lost. */
static int priority(int fd) {
  int value = 1;
  socklen_t size = sizeof value;
  syscall(SYS_getsockopt, fd, SOL_SOCKET, SO_PRIORITY, &value, &size);
  return value;
}

static void set_lost(int fd) {
  int value = 1;
  syscall(SYS_setsockopt, fd, SOL_SOCKET, SO_PRIORITY, &value, sizeof value);
}

static ssize_t sent(int fd, ssize_t result, size_t size, int has_signal) {
  if (result != -1 || errno != EPIPE || getenv("SOCKET_WRAPPER_DIR") == NULL) return result;
  if (is_stream(fd) && priority(fd) == 0) {
    set_lost(fd);
    return (ssize_t)size;
  }
  if (has_signal) raise(SIGPIPE);
  errno = EPIPE;
  return -1;
}

int shutdown(int fd, int how) {
  if (how != SHUT_RD && is_stream(fd)) set_lost(fd);
  return NEXT(shutdown)(fd, how);
}

ssize_t send(int fd, const void *data, size_t size, int flags) {
  return sent(fd, NEXT(send)(fd, data, size, flags | MSG_NOSIGNAL), size, !(flags & MSG_NOSIGNAL));
}

ssize_t sendto(int fd, const void *data, size_t size, int flags, const struct sockaddr *to, socklen_t length) {
  return sent(fd, NEXT(sendto)(fd, data, size, flags | MSG_NOSIGNAL, to, length), size, !(flags & MSG_NOSIGNAL));
}

static size_t total(const struct iovec *parts, size_t count) {
  size_t size = 0;
  for (size_t at = 0; at < count; at++) size += parts[at].iov_len;
  return size;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  return sent(fd, NEXT(sendmsg)(fd, message, flags | MSG_NOSIGNAL), total(message->msg_iov, message->msg_iovlen), !(flags & MSG_NOSIGNAL));
}

/* These have sent the signal themselves; servers ignore it. */
ssize_t write(int fd, const void *data, size_t size) { return sent(fd, NEXT(write)(fd, data, size), size, 0); }

ssize_t writev(int fd, const struct iovec *parts, int count) { return sent(fd, NEXT(writev)(fd, parts, count), total(parts, (size_t)count), 0); }
