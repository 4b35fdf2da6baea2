import type { Kernel } from '../../../kernel/index.ts'
import { importedSubscriptions, shownSubscription } from '../mqtt.ts'
import { declarations } from './declarations.ts'

const remedy = 'register the plugin "mqtt" (background: { mqtt: { connect: { … } } }), or call MqttService.connect()'

/** Reports the classes without a service, when a server boots without a server with the plugin or a connection in the process. */
export function reportIdleSubscriptions(server: Kernel): void {
  if (declarations.expected.size > 0) return
  importedSubscriptions.report(
    server.logger,
    (method) => `${shownSubscription(method)} was imported, but nothing in this process handles it: ${remedy}`,
  )
}
