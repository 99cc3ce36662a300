import { Argument, type Command } from 'commander'
import { NotedCommand } from '../help-notes.ts'

const shells = ['bash', 'zsh', 'fish'] as const

/** `open` returns all commands; completion offers exactly what they declare. */
export function completionCommand(open: () => Promise<readonly Command[]>): Command {
  return new NotedCommand('completion')
    .description('Print a script for tab completion of commands, options and runs.')
    .addArgument(new Argument('<shell>', 'your shell').choices(shells))
    .notes({
      examples: [
        ['magic completion bash >> ~/.bashrc'],
        ['magic completion zsh >> ~/.zshrc'],
        ['magic completion fish > ~/.config/fish/completions/magic.fish'],
      ],
    })
    .action(async (shell: (typeof shells)[number]) => {
      process.stdout.write(scripts[shell]((await open()).map(wordsOf)))
    })
}

interface CommandWords {
  readonly name: string
  readonly description: string
  readonly options: readonly { readonly flag: string; readonly description: string }[]
  readonly subcommands: readonly string[]
  readonly takesRun: boolean
}

function wordsOf(command: Command): CommandWords {
  return {
    name: command.name(),
    description: command.description(),
    options: command
      .createHelp()
      .visibleOptions(command)
      .flatMap(({ long, description }) => (long == null ? [] : [{ flag: long, description }])),
    subcommands: command.commands.map((one) => one.name()),
    takesRun: command.registeredArguments.some((argument) => argument.name().startsWith('run')),
  }
}

const scripts: Readonly<Record<(typeof shells)[number], (commands: readonly CommandWords[]) => string>> = {
  bash,
  zsh,
  fish,
}

function bash(commands: readonly CommandWords[]): string {
  const cases = commands.map(({ name, options, subcommands, takesRun }) => {
    const words = [...subcommands, ...options.map(({ flag }) => flag)].join(' ')
    const runs = takesRun ? ` $(ls "\${MAGIC_RUNS_DIR:-runs}" 2>/dev/null)` : ''
    return `      ${name}) words="${words}${runs}" ;;`
  })
  return `_magic() {
  local current="\${COMP_WORDS[COMP_CWORD]}" words=""
  if [ "$COMP_CWORD" -eq 1 ]; then
    words="${commands.map(({ name }) => name).join(' ')} --help --version"
  else
    case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _magic magic
`
}

function zsh(commands: readonly CommandWords[]): string {
  // A colon ends the name in zsh's lists of names with descriptions.
  const listed = (name: string, description: string) =>
    `'${`${name.replaceAll(':', '\\:')}:${description}`.replaceAll("'", "'\\''")}'`
  const cases = commands.map(({ name, options, subcommands, takesRun }) =>
    [
      `    (${name})`,
      `      options=(${options.map(({ flag, description }) => listed(flag, description)).join(' ')})`,
      ...(subcommands.length > 0 ? [`      names=(${subcommands.join(' ')})`] : []),
      ...(takesRun ? [`      names=("\${MAGIC_RUNS_DIR:-runs}"/*(N:t))`] : []),
      '      ;;',
    ].join('\n'),
  )
  return `#compdef magic
_magic() {
  local -a commands options names
  if (( CURRENT == 2 )); then
    commands=(${commands.map(({ name, description }) => listed(name, description)).join(' ')})
    _describe command commands
    return
  fi
  case "\${words[2]}" in
${cases.join('\n')}
  esac
  (( \${#names} )) && compadd -a names
  _describe -o option options
  _files
}
# A shell that completes already is left as it is set up.
(( \${+functions[compdef]} )) || { autoload -Uz compinit && compinit }
compdef _magic magic
`
}

function fish(commands: readonly CommandWords[]): string {
  const quoted = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`
  const lines = commands.flatMap(({ name, description, options, subcommands, takesRun }) => {
    const inside = `complete -c magic -n '__fish_seen_subcommand_from ${name}'`
    return [
      `complete -c magic -n __fish_use_subcommand -f -a ${name} -d ${quoted(description)}`,
      ...subcommands.map((one) => `${inside} -a ${one}`),
      ...(takesRun
        ? [`${inside} -a '(ls (set -q MAGIC_RUNS_DIR; and echo $MAGIC_RUNS_DIR; or echo runs) 2>/dev/null)'`]
        : []),
      ...options.map((option) => `${inside} -l ${option.flag.slice(2)} -d ${quoted(option.description)}`),
    ]
  })
  return `${lines.join('\n')}\n`
}
