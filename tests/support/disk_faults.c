/* Preloaded into the service: answers its calls for files of a test as a broken disk would. Belongs to disk_faults.rs.
 *
 * TEST_DISK_FAULTS names a file of one line, read at each call, whose rule is followed while it stands there:
 *
 *     rule what answer from to directory name
 *
 * rule is a number that differs between rules; what is write (with truncating, unless the disk is full, and opening to
 * write, where it is only for reading), sync or any; answer is ENOSPC, EIO, EROFS or hang (until another rule stands
 * there). Met are the calls number from to to - 1, counted from 0 since the rule began, for files below directory whose
 * name contains name. Each fault is noted with its path, a line, in a file beside it that ends in .met.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

struct rule {
    long number, from, to;
    char what[16], answer[16], directory[1024], name[256];
};

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;
static long counted_rule = -1, count;

#define REAL(result, name, ...)                                                                                      \
    static result (*real)(__VA_ARGS__);                                                                              \
    if (real == NULL)                                                                                                \
        real = (result(*)(__VA_ARGS__))dlsym(RTLD_NEXT, #name)

static int raw_open(const char *path, int flags, mode_t mode) {
    REAL(int, open, const char *, int, ...);
    return real(path, flags, mode);
}

static ssize_t raw_write(int file, const void *bytes, size_t size) {
    REAL(ssize_t, write, int, const void *, size_t);
    return real(file, bytes, size);
}

/* 0 when no rule stands there. */
static int read_rule(struct rule *rule) {
    char line[2048];
    const char *control = getenv("TEST_DISK_FAULTS");
    int file = control == NULL ? -1 : raw_open(control, O_RDONLY | O_CLOEXEC, 0);
    if (file < 0)
        return 0;
    ssize_t size = read(file, line, sizeof line - 1);
    close(file);
    line[size < 0 ? 0 : size] = 0;
    return sscanf(line, "%ld %15s %15s %ld %ld %1023s %255s", &rule->number, rule->what, rule->answer, &rule->from,
                  &rule->to, rule->directory, rule->name) == 7;
}

static int is_meant(const struct rule *rule, const char *what, const char *path) {
    const char *name = strrchr(path, '/');
    if (strcmp(what, "truncate") == 0) {
        if (strcmp(rule->answer, "ENOSPC") == 0)
            return 0;
        what = "write";
    }
    return (strcmp(rule->what, "any") == 0 || strcmp(rule->what, what) == 0) &&
           strncmp(path, rule->directory, strlen(rule->directory)) == 0 && name != NULL &&
           strstr(name, rule->name) != NULL;
}

static int is_next(const struct rule *rule) {
    pthread_mutex_lock(&counting);
    if (counted_rule != rule->number) {
        counted_rule = rule->number;
        count = 0;
    }
    long call = count++;
    pthread_mutex_unlock(&counting);
    return rule->from <= call && call < rule->to;
}

static void note(const char *met) {
    char path[PATH_MAX], line[PATH_MAX + 1];
    snprintf(path, sizeof path, "%s.met", getenv("TEST_DISK_FAULTS"));
    int file = raw_open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int size = snprintf(line, sizeof line, "%s\n", met);
    if (raw_write(file, line, size) != size)
        abort();
    close(file);
}

/* The error that the call is to give; 0 = none, do it. */
static int fault(const char *what, const char *path) {
    struct rule rule, now;
    if (!read_rule(&rule) || !is_meant(&rule, what, path) || !is_next(&rule))
        return 0;
    note(path);
    if (strcmp(rule.answer, "hang") != 0)
        return strcmp(rule.answer, "ENOSPC") == 0 ? ENOSPC : strcmp(rule.answer, "EROFS") == 0 ? EROFS : EIO;
    while (read_rule(&now) && now.number == rule.number)
        usleep(5000);
    return 0;
}

static int fault_of(const char *what, int file) {
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    if (size < 0)
        return 0;
    path[size] = 0;
    return path[0] == '/' ? fault(what, path) : 0;
}

#define WRAP(result, name, what, file, parameters, ...)                                                              \
    result name parameters {                                                                                         \
        static result(*real) parameters;                                                                             \
        if (real == NULL)                                                                                            \
            real = (result(*) parameters)dlsym(RTLD_NEXT, #name);                                                    \
        int error = fault_of(what, file);                                                                            \
        if (error == 0)                                                                                              \
            return real(__VA_ARGS__);                                                                                \
        errno = error;                                                                                               \
        return -1;                                                                                                   \
    }

WRAP(ssize_t, write, "write", file, (int file, const void *bytes, size_t size), file, bytes, size)
WRAP(ssize_t, writev, "write", file, (int file, const struct iovec *parts, int n), file, parts, n)
WRAP(ssize_t, pwrite, "write", file, (int file, const void *bytes, size_t size, off_t at), file, bytes, size, at)
WRAP(ssize_t, pwrite64, "write", file, (int file, const void *bytes, size_t size, off64_t at), file, bytes, size, at)
WRAP(int, ftruncate, "truncate", file, (int file, off_t size), file, size)
WRAP(int, ftruncate64, "truncate", file, (int file, off64_t size), file, size)
WRAP(int, fsync, "sync", file, (int file), file)
WRAP(int, fdatasync, "sync", file, (int file), file)

/* A file system that is mounted for reading refuses to open, without counting. */
#define WRAP_OPEN(name)                                                                                              \
    int name(const char *path, int flags, ...) {                                                                     \
        struct rule rule;                                                                                            \
        va_list rest;                                                                                                \
        va_start(rest, flags);                                                                                       \
        mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                                      \
        va_end(rest);                                                                                                \
        REAL(int, name, const char *, int, ...);                                                                     \
        if ((flags & O_ACCMODE) == O_RDONLY || !read_rule(&rule) || strcmp(rule.answer, "EROFS") != 0 ||             \
            !is_meant(&rule, "write", path))                                                                         \
            return real(path, flags, mode);                                                                          \
        note(path);                                                                                                      \
        errno = EROFS;                                                                                               \
        return -1;                                                                                                   \
    }

WRAP_OPEN(open)
WRAP_OPEN(open64)
