/* SPDX-License-Identifier: BSD-3-Clause */
/* path.h - what stands at a path, and folders.  Paths are UTF-8; functions that fail set errno. */
#ifndef VH_OS_PATH_H
#define VH_OS_PATH_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { VH_IS_FILE, VH_IS_FOLDER, VH_IS_OTHER } vh_kind; /* other: a device, a pipe */

typedef struct {
    vh_kind kind;
    int64_t size;
    uint64_t device, number; /* the same for all names of a file, and for no other file */
} vh_entry;

/* What a path leads to, through links; false if there is nothing. */
bool vh_path_look(const char *path, vh_entry *out);
bool vh_path_exists(const char *path);
bool vh_path_is_folder(const char *path);
bool vh_same_entry(const vh_entry *a, const vh_entry *b);
/* May this process read, or write, what is there? */
bool vh_path_readable(const char *path);
bool vh_path_writable(const char *path);

/* The name after the last separator of folders. */
const char *vh_path_name(const char *path);
/* The path without links and dots; from malloc, NULL if there is nothing. */
char *vh_path_real(const char *path);
/* The path that writing to this one creates or replaces: links stay links, even if they lead to nothing yet.
 * From malloc. */
char *vh_path_target(const char *path);

bool vh_path_remove(const char *file);
/* Gives a file another name, replacing the file of that name; or a folder one that is free. */
bool vh_path_rename(const char *from, const char *to);
/* Flushes the names in the folder of this path to disk, where it can. */
void vh_path_sync(const char *path);

bool vh_folder_make(const char *path); /* also true if it exists */
/* The names in a folder but for "." and "..", in no order; each until the next. */
typedef struct vh_folder vh_folder;
vh_folder *vh_folder_open(const char *path);
const char *vh_folder_next(vh_folder *folder);
void vh_folder_close(vh_folder *folder); /* NULL is allowed */

/* Where large temporary files go: TMPDIR, or else the usual folder, which Windows names itself. */
const char *vh_scratch_folder(const char *usual);

#endif
