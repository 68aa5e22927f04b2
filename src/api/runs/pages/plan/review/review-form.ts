import { renderIcon } from '#api/web/components/icon.ts';
import type { FormField } from '#api/web/forms/fields/form-field.ts';
import { renderForm } from '#api/web/forms/form.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { explainDenial } from '#api/web/plain-words.ts';
import { toSentence } from '#api/web/text.ts';
import type { ReviewForm, ShownRun } from '../../run-tab.ts';
import { describeApproval, type Standing } from './approval-progress.ts';

/** The fields of the form, by their names in the operation's body. */
export const reviewFields = ['decision', 'comment', 'plan_digest'] as const;

/** The form for a decision. It contains the digest of the plan on the page, so that the decision is about no other plan. */
export function renderReviewForm(run: ShownRun, standing: Standing, { problems = null, typed = {} }: ReviewForm): Html {
  const digest = run.plan?.digest ?? '';
  const mayDecide = run.actions.some(({ name, allowed }) => (name === 'approve' || name === 'reject') && allowed);
  return renderForm({
    action: pagePath(pages.reviewRun, { id: run.id }),
    problems,
    typed,
    fields: [
      { name: 'plan_digest', label: 'Plan', kind: 'hidden', value: digest },
      ...(mayDecide || typed['comment'] ? decisionFields(digest) : []),
    ],
    submit: renderButtons(run, standing),
  });
}

/** The fields for reviewers. What a visitor typed stays, even if it was refused. */
function decisionFields(digest: string): (FormField | Html)[] {
  return [
    {
      name: 'comment',
      label: 'Comment with your review',
      kind: 'area',
      hint: 'Required to reject: it tells the requester what to change.',
    },
    html`<p class="muted">You decide about the plan <code class="plan-digest" title="${digest}">${shorten(digest)}</code> only. A review is final and cannot be changed. Rejecting ends the run.</p>`,
  ];
}

/** "sha256:" and the first 12 digits. */
function shorten(digest: string): string {
  return digest.length > 19 ? `${digest.slice(0, 19)}…` : digest;
}

function renderButtons(run: ShownRun, standing: Standing): Html {
  const approve = { label: describeApproval(run, standing), icon: renderIcon('check'), tone: 'primary' };
  const reject = { label: 'Reject', icon: renderIcon('x'), tone: 'danger' };
  return html`${renderDecision(run, 'approve', approve)}${renderDecision(run, 'reject', reject)}${renderRefusals(run)}`;
}

function renderDecision(
  { actions }: ShownRun,
  decision: 'approve' | 'reject',
  { label, icon, tone }: { label: string; icon: Html; tone: string },
): Html {
  const isAllowed = actions.some(({ name, allowed }) => name === decision && allowed);
  const style = `button button-${tone}`;
  if (isAllowed)
    return html`<button class="${style}" type="submit" name="decision" value="${decision}">${icon}${label}</button>`;
  return html`<button class="${style}" type="button" aria-disabled="true" aria-describedby="why-not-${decision}">${icon}${label}</button>`;
}

/** Rewords a refusal, which names permissions, into roles, because people know those. */
function explainRefusal(reason: string | null): string {
  if (reason === null) return 'This is not possible now.';
  return toSentence(explainDenial(reason).replace(/^permission denied: this needs/, 'reviewing takes'));
}

/** Why the visitor may not decide. It is plain text and not a tooltip, because the visitor came to decide. */
function renderRefusals({ actions }: ShownRun): Html {
  const refused = actions.filter(({ name, allowed }) => (name === 'approve' || name === 'reject') && !allowed);
  const reasons = [...new Set(refused.map(({ reason }) => reason))];
  return html`${reasons.map((reason) => {
    const names = refused.filter((action) => action.reason === reason).map(({ name }) => name);
    return html`<p class="plan-why-not">${names.reduce(
      (text, name) => html`<span id="why-not-${name}">${text}</span>`,
      html`${explainRefusal(reason)}`,
    )}</p>`;
  })}`;
}
