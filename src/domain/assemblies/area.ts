import type { DeclaredAction } from '#domain/shared/commands/declared-action.ts';
import type { Feature } from '#domain/shared/features/feature.ts';
import { assemblyCandidates } from './candidates-store.ts';
import { AssemblyNodeSchema, AssemblyRunSchema, AssemblySchema, AssemblyVersionSchema } from './entity.ts';
import { assemblyEvents } from './events.ts';
import { assemblyKinds } from './ownership.ts';
import { assemblySeals } from './sealed.ts';

export const entities = [AssemblySchema, AssemblyVersionSchema, AssemblyRunSchema, AssemblyNodeSchema] as const;
export const ownership = assemblyKinds;
export const events = assemblyEvents;

export const features = {
  assemblies: {
    title: 'Assemblies',
    operations: ['assemblies'],
    searched: ['assembly'],
  },
} as const satisfies Record<string, Feature>;

export const systemActions = {
  'assembly_run.engine_lost': {
    summary: 'End an assembly run whose workflow the engine has lost',
    resourceType: 'assembly_runs',
    actor: 'reconciliation',
  },
} as const satisfies Record<string, DeclaredAction>;
export const sealed = assemblySeals;

export const errorCodes = {
  assembly_too_costly: 'The draft, the conditions or the graph of an assembly takes too long to evaluate.',
  draft_unreadable: 'The text of the draft is neither YAML nor JSON that the service can read.',
  draft_missing: 'The assembly has no draft yet.',
  assembly_invalid: 'The draft breaks rules of assemblies, or refers to what does not exist.',
  environment_unknown: 'The team of the assembly has no such environment.',
  assembly_busy: 'A run of the assembly in this environment has not ended, beside which this one must not begin.',
  node_not_deployed: 'A node that is left out is not deployed, and a chosen one depends on it.',
  assembly_run_not_cancelable: 'The assembly run has ended already.',
  assembly_run_not_resumable: 'Only an assembly run that ended without success can be resumed.',
} as const;
export const searched = { assembly: assemblyCandidates };
export const named = { assemblies: {} };
