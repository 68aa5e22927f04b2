import type { ConfirmationOf } from '#api/web/confirmations.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import { isNodeEnded } from '#domain/assemblies/model.ts';
import { get as getAssembly } from '../../operations.ts';
import { cancelRun, getRun, resumeRun } from '../../run-operations.ts';
import {
  type AssemblyRunVisit,
  assemblyCrumbs,
  operationWords,
  type ShownAssembly,
  type ShownAssemblyRun,
} from '../views.ts';

interface Subject {
  readonly run: ShownAssemblyRun;
  readonly assembly: ShownAssembly;
  readonly name: string;
}

async function readSubject(visit: AssemblyRunVisit): Promise<Subject> {
  const { id } = visit.params;
  const [assembly, run] = await Promise.all([
    visit.read(getAssembly, { params: { id } }),
    visit.read(getRun, { params: visit.params }),
  ]);
  return { run, assembly, name: `${operationWords[run.operation]}: ${assembly.name}` };
}

function common(subject: Subject, action: 'cancel' | 'resume') {
  const { run, assembly, name } = subject;
  return {
    crumbs: [...assemblyCrumbs(assembly), { label: name, path: pathOf(subject) }],
    cancel: pathOf(subject),
    refusal: refusalOf(run.actions, action),
  };
}

function pathOf({ run, assembly }: Subject, done?: ConfirmationOf<typeof pages.assemblyRun>) {
  return pagePath(pages.assemblyRun, { id: assembly.id, runID: run.id }, { done });
}

function countUnfinished({ nodes }: ShownAssemblyRun): number {
  return Object.values(nodes).filter((status) => !isNodeEnded(status)).length;
}

/** Says how many nodes a resumed run starts again: "1 node starts again". */
export function describeRepeated(nodes: number): string {
  return `${pluralize(nodes, 'node')} ${nodes === 1 ? 'starts' : 'start'} again`;
}

/** How many nodes start again. A node whose condition left it out is not counted, because it may be left out again. */
function countToRepeat({ nodes }: ShownAssemblyRun): number {
  return Object.values(nodes).filter((status) => status !== 'succeeded').length;
}

/** The forms that cancel and resume an assembly run. */
export const assemblyRunForms = [
  formPage(pages.cancelAssemblyRun, {
    read: readSubject,
    describe: (subject) => ({
      ...common(subject, 'cancel'),
      title: `Cancel “${subject.name}”`,
      lead: html`<p>The runs of its ${countUnfinished(subject.run)} unfinished nodes are canceled too. Running nodes are told to stop and have 30 seconds to finish cleanly.</p>
<p>Changes that were already made stay. You can resume the run later.</p>`,
      fields: [{ name: 'reason', label: 'Reason', isOptional: true, hint: 'The run and its events show it.' }],
      submit: 'Cancel the run',
      tone: 'danger',
    }),
    carryOut: async (subject, { reason }, visit) => {
      const body = reason ? { reason } : {};
      await visit.run(cancelRun, { params: visit.params, body });
      return pathOf(subject, 'canceled');
    },
  }),
  formPage(pages.resumeAssemblyRun, {
    read: readSubject,
    describe: (subject) => ({
      ...common(subject, 'resume'),
      title: `Resume “${subject.name}”`,
      lead: html`<p>The same run continues with your permissions: ${describeRepeated(countToRepeat(subject.run))}, with a new plan and, where required, a new approval.</p>
<p>Nodes that succeeded do not run again; their recorded outputs are used.</p>`,
      fields: [],
      submit: 'Resume the run',
    }),
    carryOut: async (subject, _typed, visit) => {
      await visit.run(resumeRun, { params: visit.params });
      return pathOf(subject, 'resumed');
    },
  }),
];
