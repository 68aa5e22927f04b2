import { join } from 'node:path';
import type { ExecutionReason } from '#domain/shared/vocabulary/run-reasons.ts';
import type { ModuleAccess, Results } from '../attempt/attempt.ts';
import type { Mount } from '../sandbox/bubblewrap.ts';
import type { JobPaths } from '../sandbox/job-paths.ts';
import { dataDirectory } from './initialization/configuration.ts';
import type { Initialization } from './initialization/init-cache.ts';

/** The options of one call of the tool. */
export interface ToolCall<Collected> {
  readonly subcommand: string;
  readonly options: (paths: JobPaths) => readonly string[];
  readonly reason: ExecutionReason;
  readonly expected?: readonly number[];
  readonly captureBytes?: number;
  /** The results of `init`; null for `init` itself, which writes them to `data`. */
  readonly initialized: Initialization | null;
  readonly data?: string;
  readonly extraFiles?: ReadonlyMap<string, Buffer>;
  /** Whether the tool sees the template's files and variables. A call that shows a plan does not need them. */
  readonly seesTemplate?: boolean;
  /** Whether the tool gets the values of the variables. By default, it does if it sees the template. */
  readonly seesVariables?: boolean;
  readonly network: { readonly state: boolean; readonly egress: boolean };
  /** Whether the backend serves the state of the attempt (default). Otherwise, it answers that there is no state. */
  readonly seesState?: boolean;
  /** Collects garbage less often. Only for calls that run nothing but the tool itself and have little to do. */
  readonly relaxedGc?: boolean;
  /** Access to private modules. */
  readonly modules?: ModuleAccess;
  /** The providers that the tool takes from a directory, and does not look for anywhere else. */
  readonly stock?: { readonly mount: Mount | null; readonly addresses: readonly string[] };
  readonly collect?: (results: Results, paths: JobPaths) => Promise<Collected>;
}

/** The directory of what `init` made, where the tool looks for it. */
export function dataMounts<Collected>({ initialized, data }: ToolCall<Collected>, module: string): Mount[] {
  const target = join(module, dataDirectory);
  if (data !== undefined) return [{ source: data, target, isWritable: true, isOwn: true }];
  return initialized === null ? [] : [{ source: initialized.data, target, isOwn: true }];
}
