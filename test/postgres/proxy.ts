import { once } from 'node:events'
import { connect, createServer, type Server, type Socket } from 'node:net'

/**
 * Sits between a client and a server, and can go silent like a network with a cut cable: no end, no error.
 */
export class SilentProxy {
  readonly port: number
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isSilent = false

  private constructor(server: Server) {
    this.#server = server
    this.port = (server.address() as { port: number }).port
  }

  static async start(target: number): Promise<SilentProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const proxy = new SilentProxy(server)
    server.on('connection', (near) => proxy.#join(near, connect(target, '127.0.0.1')))
    return proxy
  }

  /** An address with this proxy in place of the server. */
  through(address: string): string {
    const url = new URL(address)
    url.port = String(this.port)
    return url.href
  }

  /** Nothing passes in either direction; data sent meanwhile is lost. */
  silence(): void {
    this.#isSilent = true
  }

  /** New connections pass again. The old ones stay dead. */
  mend(): void {
    this.#isSilent = false
  }

  async stop(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #join(near: Socket, far: Socket): void {
    let isDead = false
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from)
      from.on('data', (bytes) => {
        isDead ||= this.#isSilent
        if (!isDead) to.write(bytes)
      })
      from.on('error', () => {})
      from.on('close', () => {
        this.#sockets.delete(from)
        if (!isDead && !this.#isSilent) to.destroy()
      })
    }
  }
}
