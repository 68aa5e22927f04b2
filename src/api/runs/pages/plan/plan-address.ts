import { type LocalPath, pagePath, pages } from '#api/web/paths.ts';

/** What the address of a plan selects. */
export interface PlanAddress {
  readonly kind?: string | undefined;
  /** A text to find in the address of a resource or in its changed attributes. */
  readonly q?: string | undefined;
  /** The position after which the page starts. */
  readonly after?: string | undefined;
  /** The position of the one change that the page shows in full. */
  readonly change?: string | undefined;
  /** The visitor's decision, just after they made it. */
  readonly reviewed?: 'approved' | 'rejected' | undefined;
}

export function planPath(id: string, { kind, q, after, change, reviewed }: PlanAddress = {}): LocalPath {
  return pagePath(pages.run, { id }, { tab: 'plan', kind, q, after, change, reviewed });
}
