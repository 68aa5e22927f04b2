/** When something is done again and again: at a fixed interval, or at times that a cron expression names by the clocks of a zone. */
export type ScheduleSpec = { readonly every: string } | { readonly cron: string; readonly timezone: string };
