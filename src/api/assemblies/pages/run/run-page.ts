import type { FastifyReply } from 'fastify';
import { renderResult } from '#api/runs/pages/run/outputs.ts';
import { copyScript } from '#api/web/components/copied.ts';
import { renderNews } from '#api/web/components/news.ts';
import { lookOfRun } from '#api/web/components/status.ts';
import { renderTabs } from '#api/web/components/tabs.ts';
import { type Html, html } from '#api/web/html.ts';
import { renderLive, renderStill } from '#api/web/live/live.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import type { Visit } from '#api/web/visit/visit.ts';
import { findAssemblyRun } from '#domain/news/assembly-run-facts.ts';
import { NotFound } from '#domain/shared/errors.ts';
import { isTerminal } from '#domain/shared/vocabulary/runs.ts';
import { readNames } from '#domain/tenancy/names.ts';
import { get as getAssembly } from '../../operations.ts';
import { getRun } from '../../run-operations.ts';
import { graphScript } from '../graph-view.ts';
import { type AssemblyRunVisit, operationWords, type ShownAssemblyRun } from '../shown.ts';
import { eventsTab } from './events-tab.ts';
import { renderHead } from './head.ts';
import { nodesTab } from './nodes-tab.ts';
import { type AssemblyRunTab, type RunSubject, runPath } from './run-tab.ts';
import { renderSituation } from './situation.ts';
import { valuesTab } from './values-tab.ts';

const tabs: readonly [AssemblyRunTab, ...AssemblyRunTab[]] = [nodesTab, valuesTab, eventsTab];

/** Shows an assembly run, and follows it. */
export async function showAssemblyRun(visit: AssemblyRunVisit): Promise<FastifyReply> {
  const { id } = visit.params;
  const [assembly, run] = await Promise.all([
    visit.read(getAssembly, { params: { id } }),
    visit.read(getRun, { params: visit.params }),
  ]);
  const names = await readNames(visit.em, { environments: [run.environment_id], teams: [run.team_id] });
  const subject = { run, assembly, names };
  const tab = tabs.find(({ key }) => key === visit.query('tab')) ?? tabs[0];
  const [situation, content] = await Promise.all([renderSituation(visit, subject), tab.render(visit, subject)]);
  const title = titleOf(subject);
  return visit.show({
    title,
    tabStatus: lookOfRun(run).word,
    scripts: [...new Set([graphScript, copyScript, ...(tab.scripts ?? [])])],
    main: html`<div class="page page-wide">
${renderNews(visit, pages.assemblyRun)}
${renderLivePart(visit, run, tab, html`${renderHead(title, subject)}${situation}${tab.key === valuesTab.key ? null : renderResult(run, runPath(run, { tab: valuesTab.key }))}${renderTabLinks(run, tab)}${content}`)}
</div>`,
  });
}

/** Leads from the id of an assembly run alone to its page. Visitors who may not read the run learn nothing of it. */
export async function redirectToAssemblyRun(visit: Visit<{ readonly id: string }>): Promise<FastifyReply> {
  const { id: runID } = visit.params;
  const found = await findAssemblyRun(visit.em, runID);
  if (!found) throw new NotFound('assembly run');
  const params = { id: found.assemblyId, runID };
  await visit.read(getRun, { params });
  return visit.redirect(pagePath(pages.assemblyRun, params));
}

function titleOf({ run, assembly }: RunSubject): string {
  return `${operationWords[run.operation]}: ${assembly.name}`;
}

function renderTabLinks(run: ShownAssemblyRun, current: AssemblyRunTab): Html {
  return renderTabs(
    'Parts of the run',
    tabs.map(({ key, label }) => ({ label, path: runPath(run, { tab: key }), isCurrent: key === current.key })),
  );
}

/** A run that has ended changes no more, unless somebody resumes it. */
function renderLivePart(visit: AssemblyRunVisit, run: ShownAssemblyRun, tab: AssemblyRunTab, content: Html): Html {
  if (isTerminal(run.status)) return renderStill(content);
  const { assembly_id: id, id: runID, revision } = run;
  return renderLive(
    {
      stream: pagePath(pages.assemblyRunChanges, { id, runID }, { revision: String(revision) }),
      address: runPath(run, { tab: tab.key, status: visit.query('status'), cursor: visit.query('cursor') }),
      again: '20s',
    },
    content,
  );
}
