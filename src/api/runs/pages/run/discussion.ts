import { renderIcon } from '#api/web/components/icon.ts';
import { renderAge } from '#api/web/components/time.ts';
import { renderForm } from '#api/web/forms/form.ts';
import type { FormProblems } from '#api/web/forms/problems.ts';
import { type Html, html } from '#api/web/html.ts';
import { pagePath, pages } from '#api/web/paths.ts';
import { pluralize } from '#api/web/text.ts';
import { list as listComments } from '../../comment-operations.ts';
import type { RunTabKey, RunVisit, ShownRun } from '../run-tab.ts';

/** A comment that was refused: what was typed, and what is wrong with it. */
export interface CommentForm {
  readonly problems?: FormProblems | null;
  readonly typed?: Readonly<Record<string, string>>;
}

const maxComments = 100;

type Review = ShownRun['approval']['reviews'][number];

/** The reviews and the comments of a run, in the order of time. */
export async function renderDiscussion(visit: RunVisit, run: ShownRun): Promise<Html | null> {
  const page = await visit.read(listComments, { params: { id: run.id }, query: { limit: String(maxComments) } });
  const { reviews } = run.approval;
  const comments = [...page.comments].reverse();
  if (reviews.length === 0 && comments.length === 0) return null;
  const entries = [
    ...reviews.map((review) => ({ at: review.at, view: () => renderReview(run, review) })),
    ...comments.map((comment) => ({ at: comment.at, view: () => renderComment(comment) })),
  ].sort((one, other) => Date.parse(one.at) - Date.parse(other.at));
  return html`<section class="discussion" aria-labelledby="discussion">
<h2 id="discussion">Reviews and comments</h2>
${page.next_cursor === null ? null : html`<p class="muted">The newest ${pluralize(maxComments, 'comment')} are shown.</p>`}
<ol class="talk">${entries.map(({ view }) => view())}</ol>
</section>`;
}

function renderReview(run: ShownRun, { by, decision, comment, at, plan_digest: digest, counts }: Review): Html {
  const isApproval = decision === 'approve';
  const isOther = run.plan !== null && digest !== run.plan.digest;
  return html`<li class="talk-entry">${renderIcon(isApproval ? 'circle-check' : 'ban')}<div>
<p><strong class="foreign">${by.name}</strong> ${isApproval ? 'approved' : 'rejected'} the plan ${renderAge(at)}${
    isOther ? html` <span class="badge">another plan</span>` : null
  }${counts === false && isApproval && !isOther ? html` <span class="badge">no longer counts</span>` : null}</p>
${comment ? html`<p class="foreign talk-text">${comment}</p>` : null}</div></li>`;
}

interface Comment {
  readonly id: string;
  readonly by: { readonly name: string };
  readonly text: string;
  readonly at: string;
}

function renderComment({ id, by, text, at }: Comment): Html {
  return html`<li class="talk-entry" id="comment-${id}">${renderIcon('message-square')}<div>
<p><strong class="foreign">${by.name}</strong> commented ${renderAge(at)}</p>
<p class="foreign talk-text">${text}</p></div></li>`;
}

/** The form for a comment. It is outside of the live part, so that no update touches what somebody types. */
export function renderCommentForm({ id }: ShownRun, tab: RunTabKey, { problems, typed }: CommentForm): Html {
  return html`<details class="comment" ${problems ? html`open` : null}>
<summary class="button button-plain">${renderIcon('message-square')}Write a comment</summary>
${renderForm({
  action: pagePath(pages.commentOnRun, { id }),
  fields: [
    { name: 'tab', label: '', kind: 'hidden', value: tab, isUnkept: true },
    {
      name: 'text',
      label: 'Comment',
      kind: 'area',
      hint: 'Everybody who may see the run sees it. A comment cannot be changed.',
    },
  ],
  submit: 'Add comment',
  problems: problems ?? null,
  ...(typed && { typed }),
})}</details>`;
}
