import { type Html, html } from '../html.ts';
import type { LocalPath } from '../paths.ts';

/** How a part of a page follows changes. */
export interface Live {
  /** The stream of events; null if a script of the page has a stream of its own and dispatches `changed` on `#stream`. */
  readonly stream: LocalPath | null;
  /** The address that renders this part anew; it may hold more than the page's own address, such as where the list ended. */
  readonly address: string;
  /** What no event announces, such as a place in a queue, is read again after this time, such as `20s`. */
  readonly again?: string;
}

/**
 * A part of a page that follows changes: at each `changed` event of the stream it loads the page's address again, and takes over what
 * differs. Focus, scroll position and opened parts stay. Without scripts it shows the state at the time of loading.
 *
 * The stream also ends with the event `end` when nothing will change any more. One that ends without it is opened again, and then the part is
 * read again, because it may have missed a change. A first connection that fails is tried again every 15 seconds.
 */
export function renderLive({ stream, address, again }: Live, content: Html): Html {
  const connected = stream
    ? html`hx-sse:connect="${stream}" hx-sse:close="end" hx-trigger="load, every 15s" hx-swap="none"`
    : null;
  const triggers = `changed from:#stream throttle:500ms${again ? `, every ${again}` : ''}`;
  return html`<div id="stream" ${connected}></div>
<p class="live-note" id="live-note" role="status" hidden>Live updates paused – retrying</p>
<div id="live" hx-get="${address}" hx-trigger="${triggers}" hx-select="#live" hx-swap="outerMorph" hx-target="this">
${content}
</div>`;
}

/** The same part where nothing will change any more. A part that was live becomes it, and follows no longer. */
export function renderStill(content: Html): Html {
  return html`<div id="live">
${content}
</div>`;
}
