import type { FastifyReply } from 'fastify';
import { docsPath } from '#api/edge/docs/docs.ts';
import { assetUrl } from './assets.ts';
import { type Html, html } from './html.ts';

export interface Page {
  /** What the page is about; its `h1` says the same. */
  readonly title: string;
  /** Something is wrong with what was sent: the title says so first, as a screen reader reads it first. */
  readonly hasProblem?: boolean;
  readonly main: Html;
}

/** Answers with a page, everything on it escaped and nothing of it kept by caches. */
export async function sendPage(reply: FastifyReply, status: number, page: Page): Promise<FastifyReply> {
  const document = await layOut(page);
  return reply
    .code(status)
    .type('text/html; charset=utf-8')
    .serializer((text: unknown) => text as string)
    .send(String(document));
}

/** Sends the browser to another page by GET. Only to a path of this service; see `toLocalPath`. */
export function seeOther(reply: FastifyReply, path: `/${string}`): FastifyReply {
  return reply.redirect(path, 303);
}

function layOut({ title, hasProblem, main }: Page): Html {
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
<a class="brand" href="/">${mark}<span>delivery-coordinator</span></a>
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

/** Planned, approved, applied: two points, and the gate between them. */
const mark = html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
<rect class="mark-ground" width="32" height="32" rx="8"/>
<path class="mark-line" d="M6 16h5M21 16h5"/><circle class="mark-gate" cx="16" cy="16" r="5"/>
<circle class="mark-point" cx="6.5" cy="16" r="2.5"/><circle class="mark-point" cx="25.5" cy="16" r="2.5"/>
</svg>`;
