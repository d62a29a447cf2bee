/* A disk that forgets what was not synced, for one program and the processes that it starts of
 * itself. Preloaded, it lets every change below one folder happen, but first writes down what was
 * there before. A sync of a file makes its earlier bytes safe, a sync of a folder its earlier names.
 * What a failed sync was for never becomes safe, whatever is synced later: the kernel tells of it
 * once and then takes those pages for written. When the program is dead, `undo.rs` takes back
 * whatever is not safe.
 *
 * It never really syncs: nobody here loses power, and so a test takes seconds. What goes through
 * `mmap` is not seen; of SQLite's files only `-shm` does, which no restart needs.
 *
 * LOSSY_FOLDER is the folder, a whole path without links. LOSSY_STATE is one outside of it, on the
 * same file system, with `control`, `log`, `lock` and the folder `graves`. */

#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MAGIC 0x4c4f5353u

/* `undo.rs` reads this, in this order. */
enum kind { WRITE = 1, TRUNCATE, SYNC, CREATE, MAKE_FOLDER, LINK, UNLINK, REMOVE_FOLDER, RENAME, FAILED };

struct record {
    uint32_t magic, kind;
    uint64_t inode;  /* of the file; where names change, of their folder */
    uint64_t offset; /* WRITE: where. SYNC, FAILED: the end of what it was for. CREATE: the new inode */
    uint64_t length; /* of the file, before */
    uint64_t count;  /* WRITE: bytes */
    uint32_t name, other; /* bytes of two texts that follow */
    uint64_t payload;     /* bytes that follow them: what was there before */
};

/* Shared with the harness, which may change it at any time. */
struct control {
    volatile uint64_t steps;   /* records written */
    volatile uint64_t stop_at; /* after so many records every change waits for ever; 0 is never */
    volatile uint64_t lies;    /* a sync says that it is done, and nothing is safe */
    volatile uint64_t sync_us; /* how long a sync takes */
    volatile uint64_t fails;   /* so many syncs of a database fail */
};

/* The program must not find our own names in the place of its own. */
#pragma GCC visibility push(hidden)

/* Empty until there is a folder that forgets. */
extern char folder[PATH_MAX], graves[PATH_MAX], exe[PATH_MAX];
extern size_t folder_len;
extern int log_fd;
extern struct control *control;

/* Going on would be a disk that forgets nothing, and a test that shows nothing. */
void give_up(const char *what);

int is_below(const char *path);

/* Whether an open file or folder is one that forgets. */
int forgets(int fd, struct stat *is);

/* One change at a time, its record included, in all processes. */
void enter(void);
void leave(void);

void note(struct record record, const char *name, const char *other, const void *payload);

/* Notes what a change of `[offset, offset + count)` will overwrite. */
void note_bytes(enum kind kind, int fd, const struct stat *is, off_t offset, size_t count);

#pragma GCC visibility pop
