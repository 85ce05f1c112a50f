/* SPDX-License-Identifier: BSD-3-Clause */
/* slot.h - files and folders under a temporary name, each held by the process that writes it.
 *
 * A writer holds a lock on its slot; one that can be locked is the leftover of a killed process. */
#ifndef VH_OS_SLOT_H
#define VH_OS_SLOT_H

#include <stdbool.h>

/* Creates and holds a new file, for reading and writing; -1, with EEXIST if another process has it. */
int vh_slot_file(const char *name);
/* Removes a file that a killed process of the same user left under this name. */
void vh_slot_sweep(const char *name);

/* Creates a file without a name in the folder of the path; *name is a path by which it can be opened and
 * linked while it is open, from malloc.  -1 where the system has none. */
int vh_slot_nameless(const char *path, char **name);
/* Gives a nameless file a name that is free; 0 or errno. */
int vh_slot_link(const char *nameless, const char *path);
/* Holds a nameless file before it gets a name. */
void vh_slot_hold(int fd);
/* Gives the new file the permissions of an old one. */
void vh_slot_take_mode(int fd, const char *path);

typedef bool vh_slot_owns(const char *name); /* true if the caller may have written this file */

/* Creates and holds a new folder; -1, with EEXIST if another process has it. */
int vh_slot_folder(const char *folder);
/* Removes a folder that a killed process of the same user left, if its files are all the caller's. */
void vh_slot_sweep_folder(const char *folder, vh_slot_owns *owns);
/* Removes a folder and its files, if they are all the caller's. */
void vh_slot_remove_folder(const char *folder, vh_slot_owns *owns);

#endif
