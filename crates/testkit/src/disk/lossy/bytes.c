/* Calls that change what is in a file, and those that make it safe. */

#include "log.h"

#include <sys/uio.h>

static ssize_t change(int fd, off_t offset, size_t count, const struct stat *is) {
    int flags = syscall(SYS_fcntl, fd, F_GETFL);
    if (offset < 0) offset = flags & O_APPEND ? is->st_size : lseek(fd, 0, SEEK_CUR);
    note_bytes(WRITE, fd, is, offset, count);
    return 0;
}

#define CHANGE(fd, offset, count, call)                                                            \
    do {                                                                                           \
        struct stat is;                                                                            \
        if (!forgets(fd, &is)) return call;                                                        \
        enter();                                                                                   \
        /* Its length may have changed while this waited. */                                       \
        fstat(fd, &is);                                                                            \
        change(fd, offset, count, &is);                                                            \
        ssize_t done = call;                                                                       \
        leave();                                                                                   \
        return done;                                                                               \
    } while (0)

static size_t total(const struct iovec *parts, int count) {
    size_t bytes = 0;
    for (int at = 0; at < count; at++) bytes += parts[at].iov_len;
    return bytes;
}

ssize_t write(int fd, const void *bytes, size_t count) {
    CHANGE(fd, -1, count, syscall(SYS_write, fd, bytes, count));
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    CHANGE(fd, -1, total(parts, count), syscall(SYS_writev, fd, parts, count));
}

ssize_t pwrite64(int fd, const void *bytes, size_t count, off64_t offset) {
    CHANGE(fd, offset, count, syscall(SYS_pwrite64, fd, bytes, count, offset));
}

ssize_t pwritev64(int fd, const struct iovec *parts, int count, off64_t offset) {
    CHANGE(fd, offset, total(parts, count), syscall(SYS_pwritev, fd, parts, count, offset, 0));
}

int ftruncate64(int fd, off64_t length) {
    struct stat is;
    if (!forgets(fd, &is)) return syscall(SYS_ftruncate, fd, length);
    enter();
    fstat(fd, &is);
    note_bytes(TRUNCATE, fd, &is, length, is.st_size);
    int done = syscall(SYS_ftruncate, fd, length);
    leave();
    return done;
}

/* Whether a name is that of SQLite's database or of its log. */
static int is_database(int fd) {
    char link[64], path[PATH_MAX] = "";
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    if (readlink(link, path, sizeof path - 1) < 0) return 0;
    return strstr(strrchr(path, '/'), ".db") != NULL;
}

static int sync_one(int fd, int number) {
    struct stat is;
    if (!forgets(fd, &is)) return syscall(number, fd);
    enter();
    fstat(fd, &is);
    struct record record = {.kind = SYNC, .inode = is.st_ino, .length = is.st_size};
    record.offset = lseek(log_fd, 0, SEEK_END);
    leave();
    if (control->sync_us) usleep(control->sync_us);
    enter();
    int fails = control->fails && is_database(fd);
    if (fails) {
        control->fails--;
        record.kind = FAILED;
    }
    if (fails || !control->lies) note(record, NULL, NULL, NULL);
    errno = EIO;
    leave();
    return fails ? -1 : 0;
}

int fsync(int fd) { return sync_one(fd, SYS_fsync); }
int fdatasync(int fd) { return sync_one(fd, SYS_fdatasync); }

/* Other ways to change bytes, which nobody takes today. Whoever begins to is told, rather than
 * tested on a disk that remembers. */
#define UNSEEN(fd, call)                                                                           \
    do {                                                                                           \
        struct stat is;                                                                            \
        if (!forgets(fd, &is)) return call;                                                        \
        errno = ENOSYS;                                                                            \
        give_up(__func__);                                                                         \
        return -1;                                                                                 \
    } while (0)

int fallocate64(int fd, int mode, off64_t offset, off64_t length) {
    UNSEEN(fd, syscall(SYS_fallocate, fd, mode, offset, length));
}

int posix_fallocate64(int fd, off64_t offset, off64_t length) {
    UNSEEN(fd, syscall(SYS_fallocate, fd, 0, offset, length) ? errno : 0);
}

ssize_t copy_file_range(int in, off64_t *from, int out, off64_t *to, size_t count, unsigned flags) {
    UNSEEN(out, syscall(SYS_copy_file_range, in, from, out, to, count, flags));
}

ssize_t sendfile64(int out, int in, off64_t *from, size_t count) {
    UNSEEN(out, syscall(SYS_sendfile, out, in, from, count));
}

ssize_t pwrite(int fd, const void *bytes, size_t count, off_t offset) {
    return pwrite64(fd, bytes, count, offset);
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) {
    return pwritev64(fd, parts, count, offset);
}
int ftruncate(int fd, off_t length) { return ftruncate64(fd, length); }
int fallocate(int fd, int mode, off_t at, off_t length) { return fallocate64(fd, mode, at, length); }
int posix_fallocate(int fd, off_t at, off_t length) { return posix_fallocate64(fd, at, length); }
