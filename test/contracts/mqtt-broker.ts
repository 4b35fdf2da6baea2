import { setTimeout as pause } from 'node:timers/promises'
import { type MqttConnectOptions, MqttService, mqtt } from 'framework'
import { afterEach, expect, test, vi } from 'vitest'
import { fillCarriers, followMessages } from '../support/carriers.ts'
import { memoryLogger } from '../support/kernel.ts'

/** A handler that records its arguments. */
function recorder() {
  const calls: unknown[][] = []
  return Object.assign((...args: unknown[]) => void calls.push(args), { calls })
}

interface Suite {
  /** Whether features that need MQTT 5 are tested, too. */
  readonly isVersion5?: boolean
  /**
   * Whether only the connection to the broker differs: then packets of the broker and the client are not tested, and
   * messages are smaller. Websockets of mosquitto 2.0.11 take 4 kB and ten turns a second.
   */
  readonly isWay?: boolean
}

/** What every broker has to do, through every way to it. */
export function mqttSuite(connect: () => MqttConnectOptions, { isVersion5 = true, isWay = false }: Suite = {}): void {
  const testPackets = isWay ? () => {} : test
  const open: { unsubscribe(): Promise<void> }[] = []
  let run = 0
  const unique = (name: string) => `${name}-${process.pid}-${++run}`
  const start = async (more: MqttConnectOptions = {}) => {
    const logger = memoryLogger()
    const service = await MqttService.connect({ ...connect(), ...more, logger })
    return Object.assign(service, { log: logger.entries })
  }
  const kept = <T extends { unsubscribe(): Promise<void> }>(handle: T): T => {
    open.push(handle)
    return handle
  }
  afterEach(async () => {
    await MqttService.disconnect()
    for (const handle of open.splice(0)) await handle.unsubscribe()
  })

  test('a message arrives as it was sent: text, JSON, bytes', async () => {
    await start()
    const topic = unique('payloads')
    const [parsed, raw] = [recorder(), recorder()]
    kept(await mqtt.subscribe(topic, parsed, { qos: 1 }))
    kept(await mqtt.subscribe(topic, raw, { qos: 1, raw: true }))
    const messages: unknown[] = [
      'text',
      '',
      'ä\u{1f600}',
      '{"half":',
      { a: [1, null, { ü: true }] },
      [],
      0,
      false,
      null,
      'x'.repeat(isWay ? 20_000 : 200_000),
      Uint8Array.of(0xff, 0, 0xc3),
      '{"__proto__":{"admin":true},"a":1}',
    ]
    await Promise.all(messages.map((message) => mqtt.publish(topic, message, { qos: 1 })))
    await vi.waitFor(() => expect(raw.calls).toHaveLength(messages.length), 5000)
    await vi.waitFor(() => expect(parsed.calls).toHaveLength(messages.length), 5000)
    const seen = parsed.calls.map(([message]) => message)
    expect(seen.slice(0, 10)).toEqual(messages.slice(0, 10))
    expect(seen[10]).toBe('\ufffd\0\ufffd')
    expect(seen[11]).toEqual({ a: 1 })
    expect(Object.hasOwn(seen[11] as object, '__proto__')).toBe(false)
    expect(parsed.calls.every((call) => call.length === 1)).toBe(true)
    expect([...(raw.calls[10]![0] as Uint8Array)]).toEqual([0xff, 0, 0xc3])
    expect(raw.calls[4]![0]).toBeInstanceOf(Uint8Array)
  })

  testPackets(
    'a handler receives the topic for a wildcard, and not for an exact name, whatever its parameters are',
    async () => {
      await start()
      const base = unique('forms')
      const [exact, plus, hash, shared] = [recorder(), recorder(), recorder(), recorder()]
      kept(await mqtt.subscribe(`${base}/a`, (a, b?: unknown) => exact(a, b)))
      kept(await mqtt.subscribe(`${base}/+`, plus))
      kept(await mqtt.subscribe(`${base}/#`, hash))
      kept(await mqtt.subscribe(`$share/g/${base}/a`, shared))
      await mqtt.publish(`${base}/a`, 1, { qos: 1 })
      await mqtt.publish(base, 2, { qos: 1 })
      await vi.waitFor(() => expect(hash.calls).toHaveLength(2), 5000)
      await vi.waitFor(
        () => expect([exact.calls.length, plus.calls.length, shared.calls.length]).toEqual([1, 1, 1]),
        5000,
      )
      expect(exact.calls).toEqual([[1, undefined]])
      expect(plus.calls).toEqual([[`${base}/a`, 1]])
      expect(hash.calls).toEqual([
        [`${base}/a`, 1],
        [base, 2],
      ])
      expect(shared.calls).toEqual([[1]])
    },
  )

  for (const qos of [0, 1, 2] as const)
    testPackets(`handlers whose subscriptions overlap get a message of QoS ${qos} once each`, async () => {
      await start()
      const base = unique('overlap')
      const all = [recorder(), recorder(), recorder(), recorder(), recorder()]
      const filters = [`${base}/+/x`, `${base}/a/+`, `${base}/#`, `${base}/a/x`, `${base}/a/x`]
      for (const [i, filter] of filters.entries())
        kept(await mqtt.subscribe(filter, all[i]!, { qos: (i % 3) as 0 | 1 | 2 }))
      const end = recorder()
      kept(await mqtt.subscribe(`${base}-end`, end, { qos: 2 }))
      // Two equal ones in succession: they are two messages, and not two copies of one.
      for (const message of ['on', 'on', 'off']) await mqtt.publish(`${base}/a/x`, message, { qos })
      await mqtt.publish(`${base}-end`, 1, { qos: 2 })
      await vi.waitFor(() => expect(end.calls).toHaveLength(1), 5000)
      await vi.waitFor(() => expect(all.map(({ calls }) => calls.length)).toEqual([3, 3, 3, 3, 3]), 5000)
      await pause(50)
      for (const { calls } of all) expect(calls.map((call) => call.at(-1))).toEqual(['on', 'on', 'off'])
    })

  testPackets('unsubscribing takes one handler off; the others of the topic go on', async () => {
    await start()
    const topic = unique('leave')
    const [first, second] = [recorder(), recorder()]
    const handle = await mqtt.subscribe(topic, first, { qos: 1 })
    const other = kept(await mqtt.subscribe(topic, second, { qos: 1 }))
    expect(handle.topic).toBe(topic)
    await mqtt.publish(topic, 1, { qos: 1 })
    await vi.waitFor(() => expect([first.calls.length, second.calls.length]).toEqual([1, 1]), 5000)
    await handle.unsubscribe()
    await handle.unsubscribe()
    await mqtt.publish(topic, 2, { qos: 1 })
    await vi.waitFor(() => expect(second.calls).toEqual([[1], [2]]), 5000)
    await other.unsubscribe()
    await mqtt.publish(topic, 3, { qos: 1 })
    const again = recorder()
    kept(await mqtt.subscribe(topic, again, { qos: 1 }))
    await mqtt.publish(topic, 4, { qos: 1 })
    await vi.waitFor(() => expect(again.calls).toEqual([[4]]), 5000)
    expect([first.calls, second.calls]).toEqual([[[1]], [[1], [2]]])
  })

  testPackets('a kept message goes to each new handler exactly once', async () => {
    await start()
    const base = unique('kept')
    await mqtt.publish(`${base}/a`, 'old', { qos: 1, retain: true })
    const [first, second, third] = [recorder(), recorder(), recorder()]
    kept(await mqtt.subscribe(`${base}/+`, first, { qos: 1, details: true }))
    await vi.waitFor(() => expect(first.calls).toHaveLength(1), 5000)
    kept(await mqtt.subscribe(`${base}/+`, second, { qos: 1 }))
    kept(await mqtt.subscribe(`${base}/a`, third, { qos: 1 }))
    await vi.waitFor(() => expect([second.calls.length, third.calls.length]).toEqual([1, 1]), 5000)
    await mqtt.publish(`${base}/a`, 'new', { qos: 1, retain: true })
    await vi.waitFor(() => expect([first, second, third].map(({ calls }) => calls.length)).toEqual([2, 2, 2]), 5000)
    expect(first.calls.map(([, message, details]) => [message, (details as { retain: boolean }).retain])).toEqual([
      ['old', true],
      ['new', false],
    ])
    // An empty text takes it back.
    await mqtt.publish(`${base}/a`, '', { qos: 1, retain: true })
    // A broker may acknowledge it before it has given it out.
    await vi.waitFor(() => expect([first, second, third].map(({ calls }) => calls.length)).toEqual([3, 3, 3]), 5000)
    const late = recorder()
    kept(await mqtt.subscribe(`${base}/a`, late, { qos: 1 }))
    await mqtt.publish(`${base}/a`, 'live', { qos: 1 })
    await vi.waitFor(() => expect(late.calls).toEqual([['live']]), 5000)
  })

  testPackets('what came with a message, when it is asked for', async () => {
    await start()
    const topic = unique('details')
    const seen = recorder()
    kept(await mqtt.subscribe(topic, seen, { qos: 2, details: true }))
    const more = isVersion5
      ? {
          userProperties: { unit: 'C', tag: ['a', 'b'] },
          contentType: 'text/plain',
          responseTopic: 'answers',
          correlationData: Uint8Array.of(7),
          messageExpiryInterval: 60,
        }
      : {}
    await mqtt.publish(topic, 'x', { qos: 1, ...more })
    await vi.waitFor(() => expect(seen.calls).toHaveLength(1), 5000)
    const [message, details] = seen.calls[0] as [string, Record<string, unknown>]
    expect([message, details.topic, details.qos, details.retain, details.duplicate]).toEqual([
      'x',
      topic,
      1,
      false,
      false,
    ])
    if (!isVersion5) return
    expect({ ...(details.userProperties as object) }).toEqual({ unit: 'C', tag: ['a', 'b'] })
    expect([details.contentType, details.responseTopic, ...(details.correlationData as Uint8Array)]).toEqual([
      'text/plain',
      'answers',
      7,
    ])
  })

  test('the carrier of a tool comes with the message, over MQTT 5', async () => {
    await start()
    const topic = unique('carrier')
    const handler = recorder()
    kept(await mqtt.subscribe(topic, handler, { qos: 1 }))
    const messages = followMessages(topic)
    const carrier = { traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`, baggage: 'of the tool' }
    const end = fillCarriers(carrier, 'mqtt.publish')
    await mqtt.publish(topic, 1, { qos: 1 })
    if (isVersion5) await mqtt.publish(topic, 2, { qos: 1, userProperties: { baggage: 'of the application' } })
    end()
    const expected = isVersion5 ? [carrier, { ...carrier, baggage: 'of the application' }] : [{}]
    await vi.waitFor(() => expect(messages.seen).toEqual(expected), 5000)
    messages.end()
    expect(handler.calls[0]).toEqual([1])
  })

  test('messages of one publisher keep their order', async () => {
    await start()
    const topic = unique('order')
    const seen: unknown[] = []
    const slow = async (message: unknown) => {
      if (Number(message) % 10 === 0) await pause(2)
      seen.push(message)
    }
    kept(await mqtt.subscribe(topic, slow, { qos: 1 }))
    await Promise.all(Array.from({ length: 300 }, (_, i) => mqtt.publish(topic, i, { qos: 1 })))
    await vi.waitFor(() => expect(seen).toHaveLength(300), 10_000)
    expect(seen).toEqual(Array.from({ length: 300 }, (_, i) => i))
  })

  testPackets('a handler publishes and waits for the broker, also for a message to itself', async () => {
    await start()
    const topic = unique('chain')
    const seen: number[] = []
    const handler = async (message: number) => {
      if (message < 5) await mqtt.publish(topic, message + 1, { qos: 2 })
      seen.push(message)
    }
    kept(await mqtt.subscribe(topic, handler as never, { qos: 2 }))
    await mqtt.publish(topic, 1, { qos: 2 })
    await vi.waitFor(() => expect(seen.sort()).toEqual([1, 2, 3, 4, 5]), 10_000)
  })

  test('a slow handler does not hold up others', async () => {
    await start()
    const base = unique('slow')
    let release = () => {}
    const blocked = new Promise<void>((resolve) => {
      release = resolve
    })
    const begun = recorder()
    kept(
      await mqtt.subscribe(
        `${base}/slow`,
        async (message) => {
          begun(message)
          await blocked
        },
        { qos: 1 },
      ),
    )
    const quick = recorder()
    kept(await mqtt.subscribe(`${base}/quick`, quick, { qos: 1 }))
    await Promise.all([0, 1, 2].map((i) => mqtt.publish(`${base}/slow`, i, { qos: 1 })))
    // More than the twenty that mosquitto has unacknowledged at most.
    const count = isWay ? 25 : 100
    await Promise.all(Array.from({ length: count }, (_, i) => mqtt.publish(`${base}/quick`, i, { qos: 1 })))
    await vi.waitFor(() => expect(quick.calls).toHaveLength(count), 10_000)
    expect(begun.calls).toEqual([[0]])
    release()
    await vi.waitFor(() => expect(begun.calls).toEqual([[0], [1], [2]]), 10_000)
  })

  test('closing lets handlers end, with their publications, and takes no other messages', async () => {
    const service = await start()
    const topic = unique('close')
    const done: unknown[] = []
    let begun = false
    const handler = async (message: unknown) => {
      begun = true
      await pause(100)
      await mqtt.publish(`${topic}-done`, message, { qos: 1 })
      done.push(message)
    }
    kept(await service.subscribe(topic, handler, { qos: 1 }))
    await service.publish(topic, 1, { qos: 1 })
    await vi.waitFor(() => expect(begun).toBe(true), 5000)
    const before = performance.now()
    // A message that is published now, without a caller that waits for it, arrives, too.
    const last = service.publish(`${topic}-last`, 1, { qos: 2 })
    await MqttService.disconnect()
    await last
    expect(performance.now() - before).toBeLessThan(2000)
    expect(done).toEqual([1])
    expect(service.isConnected).toBe(false)
    await expect(mqtt.publish(topic, 1)).rejects.toMatchObject({ code: 'MqttNotConnectedError' })
  })

  test('a session that the broker keeps collects messages while its client is away', async () => {
    const topic = unique('session')
    const options = { clientId: unique('client'), clean: false, ...(isVersion5 && { sessionExpiryInterval: 300 }) }
    const first = await start(options)
    await first.subscribe(topic, () => {}, { qos: 1 })
    await MqttService.disconnect()
    await start()
    await Promise.all(Array.from({ length: 100 }, (_, i) => mqtt.publish(topic, i, { qos: 1 })))
    await MqttService.disconnect()
    // Connected first and subscribed then: messages in between wait.
    const back = await start(options)
    await pause(50)
    const seen: unknown[] = []
    await back.subscribe(topic, (message) => void seen.push(message), { qos: 1 })
    await vi.waitFor(() => expect(seen).toHaveLength(100), 10_000)
    expect(seen).toEqual(Array.from({ length: 100 }, (_, i) => i))
    await MqttService.disconnect()
    // Clean again, so that the broker forgets it.
    await start({ ...options, clean: true, sessionExpiryInterval: undefined })
  })

  test('subscriptions are declared before there is a connection, and outlive it', async () => {
    const topic = unique('declared')
    const seen = recorder()
    const handle = kept(mqtt.subscribe(topic, seen, { qos: 1 }))
    expect(await handle).toMatchObject({ topic })
    for (let i = 0; i < 3; i++) {
      await start()
      await mqtt.publish(topic, i, { qos: 1 })
      await vi.waitFor(() => expect(seen.calls).toHaveLength(i + 1), 5000)
      await MqttService.disconnect()
    }
    expect(seen.calls).toEqual([[0], [1], [2]])
  })
}
