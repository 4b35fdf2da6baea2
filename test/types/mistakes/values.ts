import { createEnvSchema, Mailer, memoryTransport, mqtt } from 'framework'

declare module 'framework' {
  interface MqttTopics {
    'doors/front': { open: boolean }
  }
}

const env = createEnvSchema((schema) => ({ PORT: schema.number({ default: 3000 }) }))
env.get('PROT')
//! Argument of type '"PROT"' is not assignable to parameter of type '"PORT"'

mqtt.publish('doors/frnt', { open: true })
//! Argument of type '"doors/frnt"' is not assignable to parameter of type '"doors/front"'
mqtt.publish('doors/+', { open: true })
//! "a message is published to one topic, without wildcards"
mqtt.publish('doors/front', { open: 'yes' })
//! Type 'string' is not assignable to type 'boolean'
mqtt.topic('doors/front').publish({ opn: true })
//! 'opn' does not exist in type

new Mailer(
  {
    main: {
      transporter: memoryTransport(),
      from: 'shop',
      //! is not assignable to type '`${string}@${string}`'
    },
  },
  { defaultProvider: 'main' },
).send((mail) =>
  mail
    .to('ada@example.org')
    .cc(['bob@example.org', 'eve'])
    //! is not assignable to type '`${string}@${string}`'
    .subject('Hello'),
)
