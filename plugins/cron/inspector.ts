import type { InspectorPanel } from '../shared/development/panels.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Schedules',
    columns: ['Job', 'Pattern', 'State', 'Next', 'Last run', 'Outcome', 'Error'],
    rows: (services, limit) =>
      services
        .get('cron')
        .jobs()
        .slice(0, limit)
        .map(({ name, pattern, timezone, state, next, runs: [last] }) => ({
          id: name,
          cells: [
            name,
            timezone === undefined ? pattern : `${pattern} (${timezone})`,
            state,
            next,
            last?.startedAt,
            last?.outcome,
            last?.error,
          ],
        })),
    actions: [
      {
        name: 'Run now',
        async run(services, name) {
          const hasBegun = await services.get('cron').trigger(name)
          return hasBegun
            ? `${name} was started.`
            : `${name} was not started: it is already running, or the service is closing.`
        },
      },
    ],
  },
]
