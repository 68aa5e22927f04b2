import type { FastifyReply } from 'fastify';
import { renderTime } from '#api/web/components/time.ts';
import { page } from '#api/web/declarations/area.ts';
import { renderKey } from '#api/web/forms/form.ts';
import { formPage } from '#api/web/forms/form-page.ts';
import { toUtc } from '#api/web/forms/read-form.ts';
import { refusalOf } from '#api/web/forms/resource-forms.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { workersCrumb } from '#api/workers/pages/labels.ts';
import { end, get, set } from '../apply-pause-operations.ts';
import { holdFields } from './lock.ts';

type Pause = NonNullable<Awaited<ReturnType<typeof readPause>>['pause']>;

const readPause = (visit: Visit) => visit.read(get);

function renderPause({ by, since, until, reason }: Pause): Html {
  return html`<p>${by.name} paused all applies ${renderTime(since)}${until ? html`, until ${renderTime(until)}` : null}: <span class="foreign">${reason}</span></p>`;
}

function renderEnd(): Html {
  return html`<form method="post" action="${pagePath(pages.resumeApplies)}">${renderKey()}<button class="button button-primary" type="submit">Resume applies</button></form>`;
}

async function submitResumption(visit: Visit): Promise<FastifyReply> {
  visit.form();
  await visit.run(end);
  return visit.redirect(pagePath(pages.workers));
}

/** The form that pauses all applies of the installation, and the button that ends the pause. Only administrators see them. */
export const applyPausePages = [
  formPage(pages.pauseApplies, {
    read: readPause,
    describe: ({ pause, actions }) => ({
      title: pause ? 'All applies are paused' : 'Pause all applies',
      crumbs: [workersCrumb],
      actions: refusalOf(actions, 'end') === null ? renderEnd() : null,
      lead: html`${pause ? renderPause(pause) : null}
<p>Runs of the whole installation can still plan and wait for review, but no apply starts. Applies that are running are not interrupted.</p>`,
      fields: holdFields,
      submit: pause ? 'Update the pause' : 'Pause all applies',
      tone: 'danger',
      cancel: pagePath(pages.workers),
      refusal: refusalOf(actions, 'set'),
    }),
    carryOut: async (_subject, { reason, until = '' }, visit) => {
      await visit.run(set, { body: { reason, until: toUtc(until) } });
      return pagePath(pages.pauseApplies);
    },
  }),
  page('POST', pages.resumeApplies, submitResumption),
];
