import { type Html, html } from '../html.ts';
import type { LocalPath } from '../paths.ts';

/** How a part of a page is updated. */
export interface Live {
  /** The stream of events; null if a script of the page has a stream of its own and dispatches `changed` on `#stream`. */
  readonly stream: LocalPath | null;
  /** The address that renders this part again. It may have more parameters than the page's own address, such as where the list ended. */
  readonly address: string;
  /** The interval, such as `20s`, at which the part is read again for changes without events, such as a place in a queue. */
  readonly again?: string;
}

/**
 * A part of a page that is updated: at each `changed` event of the stream, it loads its address again and applies the differences. Focus,
 * scroll position and opened parts stay. Without scripts, it shows the state at the time of loading.
 *
 * The stream sends the event `end` when nothing will change any more. A stream that ends without it is opened again. Then the part is read
 * again, because it may have missed a change. If the first connection fails, another attempt follows every 15 seconds.
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

/** The same part once nothing will change any more. A live part that becomes it is no longer updated. */
export function renderStatic(content: Html): Html {
  return html`<div id="live">
${content}
</div>`;
}
