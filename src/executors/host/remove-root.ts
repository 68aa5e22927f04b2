import { isInPreparation, removeOrphanedHosts, removeUnusedRoot } from './host-directories.ts';

/**
 * Removes a directory of hosts, unless a living host uses it or may be about to. Ends and removes what killed hosts left in it. It runs as
 * the user of the directory.
 *
 * Argument: the path of the directory.
 */
const [root] = process.argv.slice(2);
if (root !== undefined) {
  const isKept = isInPreparation(root);
  await removeOrphanedHosts(root);
  if (!isKept) removeUnusedRoot(root);
}
