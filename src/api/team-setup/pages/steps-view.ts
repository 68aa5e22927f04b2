import type { FastifyReply } from 'fastify';
import { type TeamVisit, teamCrumbs, teamPath } from '#api/teams/pages/team-frame.ts';
import { renderIcon } from '#api/web/components/icon.ts';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { renderTable } from '#api/web/components/table.ts';
import type { FormPage } from '#api/web/forms/form-page.ts';
import { type Html, html } from '#api/web/html.ts';
import { pathAfter, readSetup, type Setup, type StepKey, stepKeys, stepPath, steps } from './setup.ts';

/** The overview of a team's set-up: what is done, and the step that comes next. */
export async function showSetup(visit: TeamVisit): Promise<FastifyReply> {
  const setup = await readSetup(visit);
  const { team } = setup;
  const next = stepKeys.find((key) => steps[key].summarize(setup) === null);
  const title = `Set up ${team.name}`;
  const toTeam = html`<a class="button ${next ? 'button-plain' : 'button-primary'}" href="${teamPath(team)}">Go to the team</a>`;
  return visit.show({
    title,
    main: html`<div class="page">
${renderPageHead({ title, crumbs: teamCrumbs(team), below: leaving })}
<div class="list-panel">${renderTable({
      caption: 'Steps',
      rows: stepKeys.map((key) => ({ ...steps[key], key, summary: steps[key].summarize(setup) })),
      columns: [
        { label: 'Step', kind: 'main', cell: ({ key, label }) => html`<a href="${stepPath(setup, key)}">${label}</a>` },
        { label: 'State', cell: ({ summary }) => renderStatusBadge(summary === null ? open : done) },
        { label: 'What is there', cell: ({ summary }) => summary && html`<span class="foreign">${summary}</span>` },
        { label: 'Purpose', kind: 'minor', cell: ({ purpose }) => purpose },
      ],
    })}</div>
<div class="form-end">${
      next
        ? html`<a class="button button-primary" href="${stepPath(setup, next)}">Continue: ${steps[next].label.toLowerCase()}</a>`
        : null
    }${toTeam}</div>
</div>`,
  });
}

const leaving = 'Each step is saved by itself. You can leave and come back from the page of the team.';
const open = { word: 'Not started', icon: 'circle-dashed', tone: 'queued' } as const;
const done = { word: 'Done', icon: 'circle-check', tone: 'succeeded' } as const;

/** Shared by the forms of all steps: the progress, the existing things, and a link to the next step. */
export function describeStep(
  setup: Setup,
  key: StepKey,
  more: Html | null = null,
): Pick<FormPage, 'title' | 'crumbs' | 'below' | 'lead' | 'cancel' | 'cancelLabel'> {
  const { label, purpose } = steps[key];
  const { label: cancelLabel, path: cancel } = pathAfter(setup, key);
  return {
    title: `Set up ${setup.team.name}: ${label.toLowerCase()}`,
    crumbs: teamCrumbs(setup.team),
    below: leaving,
    lead: html`<div class="stack">${renderSteps(setup, key)}<p>${purpose}</p></div>${more}`,
    cancel,
    cancelLabel,
  };
}

function renderSteps(setup: Setup, current: StepKey): Html {
  return html`<nav aria-label="Steps"><ol class="steps-list">${stepKeys.map((key) => {
    const { label, icon, summarize } = steps[key];
    const isDone = summarize(setup) !== null;
    return html`<li class="step step-${key === current ? 'current' : isDone ? 'done' : 'to-come'}">${renderIcon(isDone ? 'check' : icon)}<a class="step-name" href="${stepPath(setup, key)}" ${
      key === current ? html`aria-current="step"` : null
    }>${label}</a><span class="step-time">${key === current ? 'this step' : isDone ? 'done' : 'not started'}</span></li>`;
  })}</ol></nav>`;
}

/** The things that a step has already created. */
export function renderMade(label: string, things: readonly Html[]): Html | null {
  return things.length === 0
    ? null
    : html`<p>${label}: ${things.map((thing, index) => html`${index > 0 ? ', ' : null}${thing}`)}.</p>`;
}
