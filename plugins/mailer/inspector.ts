import type { InspectorPanel } from '../shared/development/panels.ts'

export const panels: readonly InspectorPanel[] = [
  {
    title: 'Mailer',
    columns: ['Mailer', 'Waiting emails'],
    rows: (services) => [['mailer', services.get('mailer').waiting]],
    actions: [
      {
        name: 'Verify',
        run: async (services) => {
          await services.get('mailer').verify()
          return 'The default provider can be reached and accepts the login of this mailer.'
        },
      },
    ],
  },
]
