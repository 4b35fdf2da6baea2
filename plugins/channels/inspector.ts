import type { InspectorPanel } from '../shared/development/panels.ts'

const counted: readonly (readonly [
  what: string,
  name: 'channels' | 'members' | 'streams' | 'published' | 'refused' | 'gaps',
])[] = [
  ['Channels in which someone is', 'channels'],
  ['Clients in them', 'members'],
  ['Clients over server-sent events', 'streams'],
  ['Published messages', 'published'],
  ['Refused messages and joins', 'refused'],
  ['Gaps in what a client has received', 'gaps'],
]

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Channel counts',
    columns: ['What', 'Count'],
    rows: (services) => counted.map(([what, name]) => [what, services.get('channels').counts[name]]),
  },
]
