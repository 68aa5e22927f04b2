import type { z } from 'zod';
import { renderPageHead } from '#api/web/components/page-head.ts';
import { renderStatusBadge } from '#api/web/components/status.ts';
import { html } from '#api/web/html.ts';
import type { Page } from '#api/web/layout.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { toSentence } from '#api/web/text.ts';
import { test } from '../delivery-operations.ts';
import type { WebhookTestView } from '../views.ts';
import { renderAnswerText } from './delivery-content.ts';
import { deliveryLooks, describeAnswer, type ShownWebhook, webhookCrumbs, webhookForm, webhookPath } from './labels.ts';

/** The form that sends a test message, and shows the endpoint's answer. */
export const testForm = webhookForm(pages.testWebhook, 'test', {
  describe: (webhook) => ({
    title: `Test ${webhook.name}`,
    lead: 'A message of the type webhook.test is sent to the saved URL now, signed like all others. This takes up to 15 seconds, and also works while the webhook is disabled.',
    submit: 'Send a test',
  }),
  // A form that is submitted twice sends one message, and only the first answer shows the endpoint's answer.
  carryOut: async (webhook, _typed, visit) => {
    const result = await visit.run(test, { params: { id: webhook.id } });
    return result ? resultPage(webhook, result) : webhookPath(webhook);
  },
});

function resultPage(webhook: ShownWebhook, { ok, answer, problem }: z.input<typeof WebhookTestView>): Page {
  const title = `Test of ${webhook.name}`;
  return {
    title,
    main: html`<div class="page page-narrow">
${renderPageHead({
  title,
  crumbs: webhookCrumbs(webhook),
  beside: renderStatusBadge(deliveryLooks[ok ? 'delivered' : 'failed']),
})}
<div class="panel stack">
<p>${ok ? 'The endpoint accepted the message' : 'The endpoint did not accept the message'}: ${describeAnswer(answer)}.</p>
${problem && html`<p class="notice notice-problem foreign">${toSentence(problem)}</p>`}
${renderAnswerText(answer)}
<div class="form-end"><a class="button button-primary" href="${webhookPath(webhook)}">Back to the webhook</a>
<a class="button" href="${pagePath(pages.testWebhook, { id: webhook.id })}">Test again</a></div>
</div></div>`,
  };
}
