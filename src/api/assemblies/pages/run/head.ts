import { type ActionButton, renderActions } from '#api/web/components/actions.ts';
import { type IconName, renderIcon } from '#api/web/components/icon.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderRunStatus } from '#api/web/components/status.ts';
import { formatSpan, renderAge } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { actionsByStatus } from '#domain/assemblies/model.ts';
import { assemblyCrumbs, assemblyTabPath } from '../views.ts';
import type { RunSubject } from './run-tab.ts';

/** The head of an assembly run: its operation, its status, its most important facts, and buttons. */
export function renderHead(title: string, subject: RunSubject): Html {
  const { run, assembly } = subject;
  return renderPageHead({
    title,
    crumbs: [...assemblyCrumbs(assembly), { label: 'Runs', path: assemblyTabPath(assembly.id, 'runs') }],
    beside: renderRunStatus(run),
    below: renderBrief(subject),
    actions: renderButtons(subject),
  });
}

function renderBrief({ run, assembly, names }: RunSubject): Html {
  const { version, environment_id: environment, only, started_at: start, finished_at: end } = run;
  const items: readonly (readonly [icon: IconName, label: string, content: Html] | null)[] = [
    ['user', 'Requested by', html`<span class="foreign">${run.requested_by.name}</span>`],
    ['clock', 'Created', renderAge(run.created_at)],
    start && end ? ['hourglass', 'Duration', html`${formatSpan(Date.parse(end) - Date.parse(start))}`] : null,
    [
      'layers',
      'Environment',
      html`<a class="foreign" href="${pagePath(pages.environment, { id: environment })}">${names.get(environment)?.name ?? 'deleted'}</a>`,
    ],
    ['tag', 'Version', html`<a href="${pagePath(pages.assemblyVersion, { id: assembly.id, version })}">${version}</a>`],
    only === null ? null : ['filter', 'Only', html`only ${only.length} chosen ${only.length === 1 ? 'node' : 'nodes'}`],
  ];
  return html`<span class="run-brief">${items
    .filter((item) => item !== null)
    .map(
      ([icon, label, content]) =>
        html`<span class="run-brief-item">${renderIcon(icon)}<span class="unseen">${label} </span>${content}</span> `,
    )}</span>${run.message ? html`<q class="run-message foreign">${run.message}</q>` : null}`;
}

/** The buttons for the actions that the status allows. A disabled button says why. */
function renderButtons({ run, assembly }: RunSubject): Html {
  const params = { id: assembly.id, runID: run.id };
  const buttons: Readonly<Record<string, ActionButton>> = {
    cancel: {
      label: 'Cancel',
      icon: 'circle-stop',
      tone: 'danger',
      path: pagePath(pages.cancelAssemblyRun, params),
    },
    resume: {
      label: 'Resume',
      icon: 'skip-forward',
      tone: 'primary',
      path: pagePath(pages.resumeAssemblyRun, params),
    },
    run: {
      label: 'Run again',
      icon: 'refresh-cw',
      path: pagePath(pages.runAssembly, { id: assembly.id }, { from: run.id }),
    },
  };
  const fitting = run.actions.filter(
    ({ name }) => actionsByStatus[run.status].includes(name) && !(name === 'cancel' && run.status === 'canceling'),
  );
  return renderActions([...fitting, ...assembly.actions.filter(({ name }) => name === 'run')], buttons);
}
