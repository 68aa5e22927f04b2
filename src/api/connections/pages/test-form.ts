import type { z } from 'zod';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import { test } from '../operations.ts';
import type { ConnectionTestView } from '../views.ts';
import { connectionCrumbs, connectionForm, connectionPath, type ShownConnection } from './labels.ts';

/** The form that tests a connection and shows the result. */
export const connectionTestForm = connectionForm(pages.testConnection, 'test', {
  describe: (connection) => ({
    title: `Test ${connection.name}`,
    lead: 'Tests the saved settings and credentials now. This takes up to a minute.',
    fields:
      connection.kind === 'git'
        ? [
            {
              name: 'repository',
              label: 'Repository',
              value: String(connection.config['url'] ?? ''),
            },
          ]
        : [],
    submit: 'Test',
  }),
  carryOut: async (connection, { repository }, visit) => {
    const body = repository ? { repository } : {};
    const result = await visit.run(test, { params: { id: connection.id }, body });
    return result ? resultPage(connection, result) : connectionPath(connection);
  },
});

function resultPage(connection: ShownConnection, { ok, tried, problem }: z.input<typeof ConnectionTestView>): Page {
  const title = `Test of ${connection.name}`;
  const look = ok
    ? ({ word: 'Works', icon: 'circle-check', tone: 'succeeded' } as const)
    : ({ word: 'Does not work', icon: 'octagon-x', tone: 'failed' } as const);
  return {
    title,
    main: html`<div class="page page-narrow">
${renderPageHead({ title, crumbs: connectionCrumbs(connection), beside: renderStatusBadge(look) })}
<div class="panel stack">
<p class="foreign">${toSentence(tried)}</p>
${problem && html`<p class="notice notice-problem foreign">${toSentence(problem)}</p>`}
<div class="form-end"><a class="button button-primary" href="${connectionPath(connection)}">Back to the connection</a>
<a class="button" href="${pagePath(pages.testConnection, { id: connection.id })}">Test again</a></div>
</div></div>`,
  };
}
