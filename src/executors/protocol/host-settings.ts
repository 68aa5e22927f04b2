import { z } from 'zod';

/** The settings that a worker sends to its executor host at the start. They contain no secret. */

const GroupRootSchema = z.strictObject({
  version: z.union([z.literal(1), z.literal(2)]),
  directories: z.record(z.string(), z.string()),
});

export const HostSettings = z.strictObject({
  /** The host's own directory, in which it keeps those of its attempts. */
  directory: z.string(),
  /** Whether the directory above is in the machine's temporary directory: its last host removes it. */
  isRootTemporary: z.boolean(),
  /** The directory of cached initializations, which hosts of the same user share. */
  cacheDirectory: z.string(),
  /** The path of bubblewrap; null: template code runs without a sandbox. */
  sandboxProgram: z.string().nullable(),
  groups: GroupRootSchema.nullable(),
  /** Processors that one attempt may use at the same time. */
  cores: z.number().positive(),
  /** Directories that sandboxes see read-only, in addition to the system's. */
  addedPaths: z.array(z.string()),
  /** Directories that no sandbox may see. */
  hiddenPaths: z.array(z.string()),
  /** Tools that the host's user cannot read, each with the descriptor at which the host finds it open. */
  closedTools: z.array(z.strictObject({ path: z.string(), descriptor: z.int() })),
  /** The directory of the store of providers, which hosts of the same user share, and its maximum size. */
  providerStore: z.strictObject({ directory: z.string(), bytes: z.number().nonnegative() }),
  /** A directory of providers in the layout of a filesystem mirror. */
  providerMirror: z.string().nullable(),
  /** The URL of a network mirror of providers. */
  providerNetworkMirror: z.string().nullable(),
  /** Whether providers may come directly from their registries. */
  providersDirect: z.boolean(),
  /** Addresses of the service itself, which no template may reach whatever its pool allows. */
  deniedAddresses: z.array(z.string()),
});
export type HostSettings = z.output<typeof HostSettings>;

/** A setting that this machine cannot satisfy. The message is for the operator. */
export class HostSettingsError extends Error {}
