import type { InstalledTool } from '#executors/client/tools.ts';
import type { Stage } from './lifecycle.ts';

/** What the service intentionally does in another way than the bare tool. */
export interface Explanation {
  /** The parts of the comparison that differ, as compare.ts names them. */
  readonly parts: readonly string[];
  /** Where the service ends. */
  readonly stage: Stage;
  /** What its error contains; empty if it has none. */
  readonly error: string;
  readonly because: string;
}

interface Group extends Explanation {
  /** The ends of the names of the configurations. */
  readonly names: readonly string[];
  /** Null: with each tool. */
  readonly tool: InstalledTool['name'] | null;
}

const groups: readonly Group[] = [];

/** A configuration that is named here must differ, and in this way. */
export function explanationOf(name: string, tool: InstalledTool['name']): Explanation | null {
  return (
    groups.find(
      (group) => [null, tool].includes(group.tool) && group.names.some((end) => `/${name}`.endsWith(`/${end}`)),
    ) ?? null
  );
}
