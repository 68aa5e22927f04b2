import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ErrorAnswer } from '#api/edge/errors/error-answers.ts';
import { supportIdOf } from '#api/edge/request-id.ts';
import { pageHeaders } from '#api/edge/security-headers.ts';
import { describeAuthority, findProtected } from '#api/pipeline/actions.ts';
import type { Operation } from '#api/pipeline/operation.ts';
import { findRefusedFeature } from '#domain/shared/features/gates.ts';
import { bareFrame } from './frame/bare-frame.ts';
import type { Offered } from './frame/navigation.ts';
import { type Html, html } from './html.ts';
import { type Page, sendPage } from './layout.ts';
import { toLocalPath } from './local-path.ts';
import { type LocalPath, pagePath, pages } from './paths.ts';
import { toPlainWords } from './plain-words.ts';
import { formatDuration, toSentence } from './text.ts';
import { findFormAddress } from './visit/form-address.ts';

/** The title of an error page, by status. The cause follows as a sentence. */
const titles: Readonly<Record<number, string>> = {
  400: 'This request is not valid',
  403: 'You may not do this',
  404: 'Page not found',
  405: 'This is not possible here',
  409: 'This cannot be done now',
  413: 'This is too large',
  421: 'Wrong address',
  429: 'Too many requests',
  503: 'The service is temporarily unavailable',
};

/** Makes the page with the sign-in form that leads back to a page. */
export type SignInAgain = (request: FastifyRequest, next: LocalPath | null) => Promise<Page>;

/**
 * Shows an error as a page: the cause, what to do next, and the ids under which the log has it. The navigation has the pages that the
 * visitor may open. A visitor who is not signed in gets the sign-in form instead, which leads back to the page.
 */
export function errorPageSender(offered: Offered, signInAgain: SignInAgain) {
  return async (answer: ErrorAnswer, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    // An unknown path has no route that sets the headers of pages. For a path that is not a valid URL, they are already set, because helmet
    // does not exist yet.
    if ('helmet' in reply) reply.helmet(pageHeaders);
    if (answer.status === 401)
      return sendPage(request, reply, 401, await signInAgain(request, findFormAddress(request)));
    const page = errorPage(answer, request, offered.operations);
    return sendPage(request, reply, answer.status, page, bareFrame(request, offered));
  };
}

function errorPage(answer: ErrorAnswer, request: FastifyRequest, operations: readonly Operation[]): Page {
  const { status, headers } = answer;
  const title =
    titleOfClosed(answer, request) ??
    titles[status] ??
    (status < 500 ? 'This request is not valid' : 'Something went wrong');
  return {
    title,
    main: html`<section class="card" aria-labelledby="title" data-keep-forms>
<p class="kicker">Error ${status}</p>
<h1 id="title">${title}</h1>
<p>${describeError(answer, request)}</p>
${status === 404 && !request.is404 ? html`<p class="aside">It doesn't exist, or you may not have access to it.</p>` : null}
${renderWayOn(answer, request, operations)}
${renderNextStep(request, status, headers['retry-after'])}
<dl class="facts facts-small">
<dt>Request</dt><dd><code>${request.id}</code></dd>
${status >= 500 ? html`<dt>Support</dt><dd><code>${supportIdOf(request)}</code></dd>` : null}
</dl>
</section>`,
  };
}

/** The title if an area is turned off: it names the area, because the visitor does not lack a permission. */
function titleOfClosed({ code, body }: ErrorAnswer, { principal }: FastifyRequest): string | null {
  if (code !== 'feature_disabled') return null;
  const title = findRefusedFeature(body.error, principal.closedFeatures);
  return title && `${title} ${title.endsWith('s') ? 'are' : 'is'} turned off`;
}

function describeError({ status, body }: ErrorAnswer, request: FastifyRequest): string {
  if (request.is404 && status === 404) return 'No page has this address.';
  if (body.outcome === 'unknown')
    return 'It is not known whether this was done. Look at what you wanted to change before you do it again.';
  return toSentence(toPlainWords(body.error));
}

/** If the settings have turned an area off, links to the setting, or says who can turn it on. */
function renderWayOn(
  { code }: ErrorAnswer,
  { principal }: FastifyRequest,
  operations: readonly Operation[],
): Html | null {
  if (code !== 'feature_disabled') return null;
  const { allowed } = describeAuthority(findProtected(operations, 'settings.update'), principal, []);
  return allowed
    ? html`<p class="aside">You can turn it on again in the <a href="${pagePath(pages.settingsSection, { section: 'features' })}">settings</a>.</p>`
    : html`<p class="aside">An administrator of the installation can turn it on again.</p>`;
}

/** Offers to try again only if the request may succeed next time, and only for GET, because a link cannot send a form. */
function renderNextStep(request: FastifyRequest, status: number, retryAfter: string | undefined): Html {
  const retryPath = request.method === 'GET' && (status >= 500 || status === 429) ? toLocalPath(request.url) : null;
  const wait = retryAfter ? html`<p class="aside">Try again in ${formatDuration(Number(retryAfter))}.</p>` : null;
  const [label, path] = retryPath ? ['Try again', retryPath] : ['Go to the home page', pagePath(pages.home)];
  return html`${wait}<a class="button button-primary" href="${path}">${label}</a>`;
}
