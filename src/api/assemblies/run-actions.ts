import { type ActionContext, actionsOf } from '#api/pipeline/actions.ts';
import { findResumeRefusal, findStatusRefusal } from '#domain/assemblies/runs/rules.ts';
import type { AssemblyRunDetails } from '#domain/assemblies/runs/store.ts';
import type { AssemblyRunFacts } from '#domain/assemblies/runs/targets.ts';
import { toListedAssemblyRun } from './run-views.ts';

const assemblyGone = { message: 'the assembly was deleted: its runs can only be read' };

const actions = actionsOf<AssemblyRunFacts>()({
  cancel: { operation: 'assemblies.cancel_run', findRefusal: ({ run }) => findStatusRefusal('cancel', run.status) },
  resume: {
    operation: 'assemblies.resume_run',
    findRefusal: (target) => (target.isDeleted ? assemblyGone : findResumeRefusal(target)),
  },
});

/** Shows one assembly run with what the caller may do with it. */
export function showAssemblyRun(context: ActionContext, facts: AssemblyRunFacts, details: AssemblyRunDetails) {
  return { ...toListedAssemblyRun(details), actions: actions.describe(context, facts) };
}
