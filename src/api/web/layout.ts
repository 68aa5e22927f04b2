import type { FastifyReply } from 'fastify';
import { docsPath } from '#api/edge/docs/docs.ts';
import { assetUrl } from './assets.ts';
import { type Html, html } from './html.ts';
import { type LocalPath, pagePath, pages } from './paths.ts';

export interface Page {
  /** The title of the page. Its `h1` has the same text. */
  readonly title: string;
  /** The submitted form has a problem. The title begins with it, because a screen reader reads the title first. */
  readonly hasProblem?: boolean;
  readonly main: Html;
}

/** Answers with a page. Caches do not store it. */
export async function sendPage(reply: FastifyReply, status: number, page: Page): Promise<FastifyReply> {
  const document = await renderDocument(page);
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .serializer((text: unknown) => text as string)
    .send(String(document));
}

/** Redirects the browser to a path of this service, by GET (303). See `toLocalPath` for paths from outside. */
export function seeOther(reply: FastifyReply, path: LocalPath): FastifyReply {
  return reply.redirect(path, 303);
}

function renderDocument({ title, hasProblem, main }: Page): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${hasProblem ? 'Problem: ' : ''}${title} · delivery-coordinator</title>
<link rel="stylesheet" href="${assetUrl('coordinator.css')}">
<link rel="icon" type="image/svg+xml" href="${assetUrl('mark.svg')}">
</head>
<body>
<a class="skip-link" href="#main">Skip to content</a>
<header class="masthead">
<a class="brand" href="${pagePath(pages.home)}">${mark}<span>delivery-coordinator</span></a>
</header>
<main id="main" tabindex="-1">
${main}
</main>
<footer class="footer">
<a href="${docsPath}">API reference</a>
</footer>
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
