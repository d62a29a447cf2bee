/* The program's own children. */

#include "log.h"

#include <dlfcn.h>
#include <spawn.h>

/* The supervisor of a command is the same program with an empty environment; its traces must be
 * forgotten like all the rest. The command itself only gets open files: what it wrote is found by
 * its length. */
static char *const *with_us(const char *program, char *const *given, char **room, size_t size) {
    char real[PATH_MAX];
    if (!folder_len || !realpath(program, real) || strcmp(real, exe)) return given;
    static char ours[3][PATH_MAX + 32];
    snprintf(ours[0], sizeof ours[0], "LD_PRELOAD=%s", getenv("LD_PRELOAD"));
    snprintf(ours[1], sizeof ours[1], "LOSSY_FOLDER=%s", folder);
    snprintf(ours[2], sizeof ours[2], "LOSSY_STATE=%s", getenv("LOSSY_STATE"));
    size_t at = 0;
    while (given[at] && at + 4 < size) room[at] = given[at], at++;
    for (int one = 0; one < 3; one++) room[at++] = ours[one];
    room[at] = NULL;
    return room;
}

typedef int spawn_fn(pid_t *, const char *, const posix_spawn_file_actions_t *,
                     const posix_spawnattr_t *, char *const *, char *const *);

int posix_spawnp(pid_t *pid, const char *program, const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const *words, char *const *given) {
    char *room[512];
    spawn_fn *real = (spawn_fn *)dlsym(RTLD_NEXT, "posix_spawnp");
    return real(pid, program, actions, attributes, words, with_us(program, given, room, 512));
}

int execvp(const char *program, char *const *words) {
    char *room[512];
    return execvpe(program, words, with_us(program, environ, room, 512));
}
