import { assemblyWork } from './assemblies/evaluation/work.ts';
import { schemaWork } from './registry/evaluation/work.ts';
import type { AnyWork } from './shared/evaluation/work.ts';

/** All kinds of work that evaluation threads do. No `area.ts` exports it: a thread loads only this work, and not all areas. */
export const evaluationWork: readonly AnyWork[] = [...schemaWork, ...assemblyWork];
