/** When recurring work starts: at a fixed interval, or at the times of a cron expression in a time zone. */
export type ScheduleSpec = { readonly every: string } | { readonly cron: string; readonly timezone: string };
