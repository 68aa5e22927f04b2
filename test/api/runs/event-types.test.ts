import { describe, expect, it } from 'vitest';
import { operations } from '#api/operations.ts';
import { eventCatalogue } from '#api/webhooks/event-catalogue.ts';
import { eventTypes } from '#domain/events.ts';

/** The events of these areas are in lists, and the OpenAPI document describes every type. */
const listed = ['run', 'assembly_run'];

describe('the events of a run and of an assembly run', () => {
  it('are declared by their areas, so that lists of events can contain each of them', () => {
    const events = eventCatalogue(operations).filter(({ subject }) => listed.includes(subject));
    expect(events.length).toBeGreaterThan(20);
    expect(events.map(({ type }) => type).filter((type) => !(type in eventTypes))).toEqual([]);
  });
});
