import { type CallSite, defineErrors, type WorkerPlace } from '../../kernel/index.ts'

export const { MqttNotConnectedError, MqttConnectedError, MqttUnavailableError } = defineErrors({
  // All with status 500: details about an application are not for its clients.
  MqttNotConnectedError: (what: string) =>
    `${what} needs a connection. Call await MqttService.connect({ host, port }) first, or give the server background: { mqtt: { connect: { host, port } } } and let it listen`,
  MqttConnectedError: () =>
    'this process is already connected. Call await MqttService.disconnect() before the next MqttService.connect()',
  MqttUnavailableError: (why: string) => why,
})

export const { MqttWorkersError, MqttClientIdError } = defineErrors({
  MqttWorkersError: (clientId: string, { number, of }: WorkerPlace) =>
    `mqtt.connect.clientId is "${clientId}" in worker ${number} of ${of}: a broker closes the connection of a client when another client connects with the same name. Leave it out, or run one worker`,
  MqttClientIdError: (clientId: string, broker: string, one: CallSite, other: CallSite) =>
    `mqtt.connect.clientId is "${clientId}" in two servers of this process, of ${one} and of ${other}: the broker ${broker} closes the connection of a client when another client connects with the same name. Give each server its own, or leave it out`,
})

export const { MqttFullError, MqttTopicError, MqttPayloadError, MqttPublishError, MqttSubscribeError } = defineErrors({
  MqttFullError: (messages: number, limit: string) =>
    `${messages} messages are waiting to be sent, the maximum of ${limit}. Await the promise of publish, or raise ${limit}`,
  MqttTopicError: (name: string, why: string) => `${name} ${why}`,
  MqttPayloadError: (topic: string, why: string) => `the message for the topic "${topic}" ${why}`,
  MqttPublishError: (topic: string, why: string) =>
    `the broker does not accept the message for the topic "${topic}": ${why}`,
  MqttSubscribeError: (filter: string, why: string) => `the broker refuses the subscription "${filter}": ${why}`,
})

export const { MqttHandlerError, MqttFileError, MqttClassError } = defineErrors({
  MqttHandlerError: (filter: string, why: string) => `the subscription "${filter}": ${why}`,
  MqttFileError: (file: string, why: string) => `the file of subscriptions ${file} cannot be loaded: ${why}`,
  MqttClassError: (name: string, why: string) => `${name}: ${why}`,
})

/** Adds the reason code of MQTT 5 to an error, if the broker sent one. */
export function withReason<E extends Error>(error: E, cause: unknown): E {
  const code = (cause as { code?: unknown } | null)?.code
  return Object.assign(error, { cause, ...(typeof code === 'number' && { reasonCode: code }) })
}
