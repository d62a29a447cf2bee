/* Calls that change what is in a folder. */

#include "log.h"

#include <stdarg.h>

/* The whole path, if it is one that forgets. */
static int names(int at, const char *path, char *out) {
    if (!folder_len || !path) return 0;
    char before[PATH_MAX] = "";
    if (path[0] != '/') {
        char link[64];
        if (at == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
        else snprintf(link, sizeof link, "/proc/self/fd/%d", at);
        ssize_t len = readlink(link, before, sizeof before - 2);
        if (len < 0) return 0;
        before[len] = '/';
        before[len + 1] = 0;
    }
    if (strlen(before) + strlen(path) >= PATH_MAX) return 0;
    strcpy(out, before);
    strcat(out, path);
    return is_below(out);
}

static uint64_t parent(const char *path) {
    char above[PATH_MAX];
    struct stat is = {0};
    snprintf(above, sizeof above, "%s", path);
    *strrchr(above, '/') = 0;
    stat(above, &is);
    return is.st_ino;
}

static void note_name(enum kind kind, const char *path, uint64_t inode, const char *other) {
    note((struct record){.kind = kind, .inode = parent(path), .offset = inode}, path, other, NULL);
}

/* A second name outside, so that what is removed can come back, and its inode is not used again. */
static int bury(const char *path, char *grave) {
    int len = snprintf(grave, PATH_MAX, "%s/%llu", graves, (unsigned long long)control->steps);
    if (len >= PATH_MAX) give_up(graves);
    return syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, grave, 0);
}

static int open_one(int at, const char *path, int flags, mode_t mode) {
    char whole[PATH_MAX];
    struct stat is;
    int changes = flags & (O_CREAT | O_TRUNC);
    if (!changes || !names(at, path, whole)) return syscall(SYS_openat, at, path, flags, mode);
    enter();
    int there = stat(whole, &is) == 0;
    if (there && flags & O_TRUNC && !(flags & O_EXCL) && S_ISREG(is.st_mode) && is.st_size) {
        int fd = syscall(SYS_openat, AT_FDCWD, whole, O_RDONLY | O_CLOEXEC);
        if (fd < 0) give_up(whole);
        note_bytes(TRUNCATE, fd, &is, 0, is.st_size);
        close(fd);
    }
    int fd = syscall(SYS_openat, at, path, flags, mode);
    if (fd >= 0 && !there && !fstat(fd, &is)) note_name(CREATE, whole, is.st_ino, NULL);
    leave();
    return fd;
}

#define MODE(flags)                                                                                \
    mode_t mode = 0;                                                                               \
    if ((flags) & (O_CREAT | O_TMPFILE)) {                                                         \
        va_list more;                                                                              \
        va_start(more, flags);                                                                     \
        mode = va_arg(more, mode_t);                                                               \
        va_end(more);                                                                              \
    }

int open64(const char *path, int flags, ...) {
    MODE(flags)
    return open_one(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}

int openat64(int at, const char *path, int flags, ...) {
    MODE(flags)
    return open_one(at, path, flags | O_LARGEFILE, mode);
}

int mkdirat(int at, const char *path, mode_t mode) {
    char whole[PATH_MAX];
    if (!names(at, path, whole)) return syscall(SYS_mkdirat, at, path, mode);
    enter();
    int done = syscall(SYS_mkdirat, at, path, mode);
    if (!done) note_name(MAKE_FOLDER, whole, 0, NULL);
    leave();
    return done;
}

int linkat(int at, const char *path, int to, const char *name, int flags) {
    char whole[PATH_MAX];
    if (!names(to, name, whole)) return syscall(SYS_linkat, at, path, to, name, flags);
    enter();
    int done = syscall(SYS_linkat, at, path, to, name, flags);
    if (!done) note_name(LINK, whole, 0, NULL);
    leave();
    return done;
}

int unlinkat(int at, const char *path, int flags) {
    char whole[PATH_MAX], grave[PATH_MAX];
    if (!names(at, path, whole)) return syscall(SYS_unlinkat, at, path, flags);
    enter();
    int buried = flags & AT_REMOVEDIR ? -1 : bury(whole, grave);
    int done = syscall(SYS_unlinkat, at, path, flags);
    if (!done && flags & AT_REMOVEDIR) note_name(REMOVE_FOLDER, whole, 0, NULL);
    if (!done && !buried) note_name(UNLINK, whole, 0, grave);
    leave();
    return done;
}

int renameat(int at, const char *path, int to, const char *name) {
    char whole[PATH_MAX], target[PATH_MAX], grave[PATH_MAX];
    if (!names(at, path, whole) || !names(to, name, target))
        return syscall(SYS_renameat2, at, path, to, name, 0);
    enter();
    int buried = bury(target, grave);
    int done = syscall(SYS_renameat2, at, path, to, name, 0);
    struct record record = {.kind = RENAME, .inode = parent(target)};
    record.payload = buried ? 0 : strlen(grave);
    if (!done) note(record, target, whole, grave);
    leave();
    return done;
}

int open(const char *path, int flags, ...) {
    MODE(flags)
    return open_one(AT_FDCWD, path, flags, mode);
}

int openat(int at, const char *path, int flags, ...) {
    MODE(flags)
    return open_one(at, path, flags, mode);
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
int link(const char *path, const char *name) { return linkat(AT_FDCWD, path, AT_FDCWD, name, 0); }
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int rename(const char *path, const char *name) { return renameat(AT_FDCWD, path, AT_FDCWD, name); }
