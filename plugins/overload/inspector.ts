import type { InspectorPanel } from '../shared/development/panels.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Overload',
    columns: ['Metric', 'Now', 'Limit'],
    rows(services) {
      const { load, limits, share, refused } = services.get('overload')
      return [
        ['Event-loop delay, ms', load.eventLoopDelay, limits.eventLoopDelay],
        ['Heap in use, bytes', load.heapUsed, limits.heapUsed],
        ['Requests in flight', load.requestsInFlight, limits.requestsInFlight],
        ['Share of requests that is accepted', share, undefined],
        ['Requests that were refused', refused, undefined],
      ]
    },
  },
]
