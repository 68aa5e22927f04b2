import { z } from 'zod';

/** What a worker tells its executor host once, at the start. It holds no secret. */

const GroupRootSchema = z.strictObject({
  version: z.union([z.literal(1), z.literal(2)]),
  directories: z.record(z.string(), z.string()),
});

export const HostSettings = z.strictObject({
  /** Where the host keeps the directories of attempts; its own, and nobody else's. */
  directory: z.string(),
  /** Where initializations are kept; hosts of the same user share it. */
  cacheDirectory: z.string(),
  /** bubblewrap's program; null: template code runs uncontained. */
  sandboxProgram: z.string().nullable(),
  groups: GroupRootSchema.nullable(),
  /** Processors that one attempt may use at a time. */
  cores: z.number().positive(),
  /** Directories beside the system's that sandboxes see, read-only. */
  addedPaths: z.array(z.string()),
  /** Directories that no sandbox may see. */
  hiddenPaths: z.array(z.string()),
  /** Tools that the host's user cannot reach by name, each with the descriptor at which the host got it open. */
  closedTools: z.array(z.strictObject({ path: z.string(), descriptor: z.int() })),
  /** A directory with providers in the layout of a file system mirror. */
  providerMirror: z.string().nullable(),
  /** The URL of a network mirror for providers. */
  providerNetworkMirror: z.string().nullable(),
  /** Whether providers may come from their registries. */
  providersDirect: z.boolean(),
  /** Addresses that no template may reach, whatever its pool allows: the service's own. */
  deniedAddresses: z.array(z.string()),
});
export type HostSettings = z.output<typeof HostSettings>;

/** A setting that this machine cannot follow; the message is for the operator. */
export class HostSettingsError extends Error {}
