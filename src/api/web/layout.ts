import type { FastifyReply, FastifyRequest } from 'fastify';
import { compressFor } from '#api/edge/compression.ts';
import { docsPath } from '#api/edge/docs/docs.ts';
import { assetUrl, importsOf } from './assets.ts';
import { type Frame, renderBar, renderNavigation } from './frame/frame.ts';
import { type Html, html } from './html.ts';
import { type LocalPath, pagePath, pages, withQuery } from './paths.ts';
import { findFormAddress, resultParameters } from './visit/form-address.ts';

export interface Page {
  /** The title of the page. Its `h1` has the same text. */
  readonly title: string;
  /** The text before the title in the browser's tab, such as the status of a run. */
  readonly tabStatus?: string;
  /** The submitted form has a problem. The title begins with it, because a screen reader reads the title first. */
  readonly hasProblem?: boolean;
  readonly main: Html;
  /** The page stands alone, without navigation, even if the visitor is signed in. */
  readonly isBare?: boolean;
  /** Modules of the page besides the scripts that every page has. */
  readonly scripts?: readonly string[];
}

/** Answers with a page. Caches do not store it. `frame` is null where the visitor is not signed in. */
export async function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  page: Page,
  frame: Frame | null = null,
): Promise<FastifyReply> {
  // A 201 may show a secret once. Its address stays that of the form's target, so the browser asks before a reload sends the form again.
  const formAddress = request.method === 'POST' && status !== 201 ? findFormAddress(request) : null;
  const document = String(await renderDocument(page, frame, formAddress));
  // Only answers to GET are compressed. The answer to a form may contain a secret beside text from the form, and its compressed length
  // could reveal the secret.
  const content = request.method === 'GET' ? await compressFor(request, reply, document) : document;
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .serializer((body: unknown) => body as string)
    .send(content);
}

/** Redirects the browser to a path of this service, by GET (303). See `toLocalPath` for paths from outside. */
export function seeOther(reply: FastifyReply, path: LocalPath): FastifyReply {
  return reply.redirect(path, 303);
}

/**
 * The settings of htmx: its extension for event streams, which attributes an update leaves as they are, and which answers replace nothing.
 * Errors replace nothing, because the page that is shown is more useful.
 */
const htmxConfig = JSON.stringify({
  extensions: 'sse',
  morphIgnore: ['data-htmx-powered', 'open'],
  noSwap: [204, 304, '4xx', '5xx'],
  includeIndicatorCSS: false,
});

function renderDocument(page: Page, frame: Frame | null, formAddress: LocalPath | null): Html {
  const { title, tabStatus, hasProblem, main, scripts = [] } = page;
  const before = [hasProblem ? 'Error' : null, tabStatus].filter(Boolean).map((text) => `${text}: `);
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="htmx-config" content="${htmxConfig}">
<title>${before.join('')}${title} · delivery-coordinator</title>
<link rel="stylesheet" href="${assetUrl('coordinator.css')}">
<link rel="icon" type="image/svg+xml" href="${assetUrl('mark.svg')}">
<script src="${assetUrl('before.js')}"></script>
<script src="${assetUrl('common.js')}" defer></script>
${scripts.flatMap(importsOf).map(
  (name) => html`<link rel="modulepreload" href="${assetUrl(name)}">
`,
)}${scripts.map(
  (name) => html`<script src="${assetUrl(name)}" type="module"></script>
`,
)}</head>
<body class="${frame ? 'framed' : 'plain'}" ${frame ? html`data-visitor="${frame.visitor.id}"` : null} ${hasProblem ? html`data-problem` : null} ${formAddress ? html`data-form-address="${formAddress}"` : null} data-result-parameters="${resultParameters.join(' ')}">
<a class="skip-link" href="#main">Skip to content</a>
<header class="masthead">
<a class="brand" href="${withQuery(pagePath(pages.home), frame?.scope.query)}">${mark}<span>delivery-coordinator</span></a>
${frame ? renderBar(frame) : null}
</header>
${frame ? renderNavigation(frame) : null}
<main id="main" tabindex="-1">
${main}
</main>
${frame ? null : html`<footer class="footer"><a href="${docsPath}">API reference</a></footer>`}
</body>
</html>
`;
}

/** The logo: plan and apply as two points, with the approval as a gate between them. */
const mark = html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
<rect class="mark-ground" width="32" height="32" rx="8"/>
<path class="mark-line" d="M6 16h5M21 16h5"/><circle class="mark-gate" cx="16" cy="16" r="5"/>
<circle class="mark-point" cx="6.5" cy="16" r="2.5"/><circle class="mark-point" cx="25.5" cy="16" r="2.5"/>
</svg>`;
