import type { z } from 'zod';
import { renderTime } from '#api/web/components/time.ts';
import { type Html, html } from '#api/web/html.ts';
import { capitalize } from '#api/web/text.ts';
import type { FreezeWindow } from '#domain/environments/freeze-windows.ts';

/** A freeze window, as answers represent it. */
export type ShownWindow = z.input<typeof FreezeWindow>;

/** When a freeze window is open. */
export function renderFreezeWindow(window: ShownWindow): Html {
  if ('weekly' in window) {
    const { starts, ends } = window.weekly;
    return html`Every ${capitalize(starts.day)} ${starts.time} to ${capitalize(ends.day)} ${ends.time}, ${window.time_zone}`;
  }
  return html`${renderTime(window.starts_at)} to ${renderTime(window.ends_at)}`;
}
