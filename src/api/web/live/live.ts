import { type Html, html } from '../html.ts';
import type { LocalPath } from '../paths.ts';

/**
 * A part of a page that follows changes: at each `changed` event of the stream it loads the page's address again, and takes over what
 * differs. Focus, scroll position and opened parts stay. Without scripts it shows the state at the time of loading.
 *
 * The stream also ends with the event `end` when nothing will change any more. A first connection that fails is tried again every 15 seconds.
 * @param address the address that renders this part anew; it may hold more than the page's own address, such as where the list ended
 */
export function renderLive(
  { stream, address }: { readonly stream: LocalPath; readonly address: string },
  content: Html,
): Html {
  return html`<div id="stream" hx-sse:connect="${stream}" hx-sse:close="end" hx-trigger="load, every 15s" hx-swap="none"></div>
<p class="live-note" id="live-note" role="status" hidden>Live updates paused – retrying</p>
<div id="live" hx-get="${address}" hx-trigger="changed from:#stream throttle:500ms" hx-select="#live" hx-swap="outerMorph" hx-target="this">
${content}
</div>`;
}
