/* The log of what was there before, and the one lock that keeps it in order. */

#include "log.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/uio.h>

char folder[PATH_MAX], graves[PATH_MAX], exe[PATH_MAX];
size_t folder_len;
int log_fd = -1;
static int lock_fd = -1;
struct control *control;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

void give_up(const char *what) {
    dprintf(2, "lossy: %s: %s\n", what, strerror(errno));
    _exit(99);
}

static int open_state(const char *state, const char *name, int flags) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/%s", state, name);
    int fd = syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
    if (fd < 0) give_up(path);
    return fd;
}

__attribute__((constructor)) static void begin(void) {
    const char *below = getenv("LOSSY_FOLDER"), *state = getenv("LOSSY_STATE");
    if (!below || !state) return;
    snprintf(graves, sizeof graves, "%s/graves", state);
    if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0) give_up("/proc/self/exe");
    int fd = open_state(state, "control", O_RDWR);
    control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (control == MAP_FAILED) give_up("control");
    close(fd);
    log_fd = open_state(state, "log", O_WRONLY | O_APPEND);
    lock_fd = open_state(state, "lock", O_RDWR);
    snprintf(folder, sizeof folder, "%s", below);
    folder_len = strlen(folder);
}

int is_below(const char *path) {
    if (!folder_len || strncmp(path, folder, folder_len) || path[folder_len] != '/') return 0;
    size_t len = strlen(path);
    return len < 4 || strcmp(path + len - 4, "-shm");
}

/* Between processes the kernel lets go of the lock when its holder dies; threads need their own. */
static void lock_file(short type) {
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    while (syscall(SYS_fcntl, lock_fd, F_SETLKW, &lock) < 0)
        if (errno != EINTR) give_up("lock");
}

void leave(void) {
    int error = errno;
    lock_file(F_UNLCK);
    pthread_mutex_unlock(&mutex);
    errno = error;
}

void enter(void) {
    pthread_mutex_lock(&mutex);
    lock_file(F_WRLCK);
    if (control->stop_at && control->steps >= control->stop_at) {
        leave();
        for (;;) pause();
    }
}

void note(struct record record, const char *name, const char *other, const void *payload) {
    record.magic = MAGIC;
    record.name = name ? strlen(name) : 0;
    record.other = other ? strlen(other) : 0;
    size_t whole = sizeof record + record.name + record.other + record.payload;
    struct iovec parts[4] = {{&record, sizeof record},
                             {(void *)name, record.name},
                             {(void *)other, record.other},
                             {(void *)payload, record.payload}};
    if (syscall(SYS_writev, log_fd, parts, 4) != (ssize_t)whole) give_up("log");
    control->steps++;
}

void note_bytes(enum kind kind, int fd, const struct stat *is, off_t offset, size_t count) {
    size_t there = is->st_size > offset ? is->st_size - offset : 0;
    struct record record = {.kind = kind, .inode = is->st_ino, .offset = offset};
    record.length = is->st_size;
    record.count = kind == WRITE ? count : 0;
    record.payload = there < count ? there : count;
    char *old = malloc(record.payload + 1), path[64];
    if (!old) give_up("memory");
    int from = fd;
    for (size_t got = 0; got < record.payload;) {
        ssize_t more = pread(from, old + got, record.payload - got, offset + got);
        if (more < 0 && errno == EBADF && from == fd) {
            /* Open for writing only. SQLite's files never are: closing a second handle of one
             * would let go of all its locks. */
            snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
            from = syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
            continue;
        }
        if (more <= 0) give_up("what was there before");
        got += more;
    }
    if (from != fd) close(from);
    note(record, NULL, NULL, old);
    free(old);
}

int forgets(int fd, struct stat *is) {
    if (!folder_len || fstat(fd, is) || !(S_ISREG(is->st_mode) || S_ISDIR(is->st_mode))) return 0;
    char link[64], path[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path - 1);
    if (len < 0) return 0;
    path[len] = 0;
    return is_below(path) || !strcmp(path, folder);
}
