import { isInPreparation, removeOrphanedHosts, removeUnusedRoot } from './host-directories.ts';

/**
 * Removes a directory of hosts, with what killed hosts left in it and still runs, unless a living host uses it or may be about to. It runs as the user of the directory.
 *
 * Argument: the path of the directory.
 */
const [root] = process.argv.slice(2);
if (root !== undefined) {
  const isKept = isInPreparation(root);
  await removeOrphanedHosts(root);
  if (!isKept) removeUnusedRoot(root);
}
