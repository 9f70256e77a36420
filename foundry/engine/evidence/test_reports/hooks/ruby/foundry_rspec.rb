# Lets RSpec write down what it ran; required through SPEC_OPTS. Prints nothing, fails silently.
# Lines are written as ../python/foundry_lines.py says.
begin
  require "json"

  module FoundryTests
    class Listener
      def initialize(folder)
        stamp = (Time.now.to_r * 1_000_000_000).to_i.to_s.rjust(20, "0")
        @file = File.join(folder, "#{stamp}-#{Process.pid}-rspec.jsonl")
        @pid = Process.pid
        write(e: "session", runner: "rspec", at: Dir.pwd)
      end

      def example_passed(notification)
        note(notification, "passed")
      end

      def example_failed(notification)
        note(notification, "failed")
      end

      def example_pending(notification)
        skipped = notification.example.execution_result.example_skipped?
        note(notification, skipped ? "skipped" : "xfailed")
      end

      def stop(_notification)
        write(e: "end", collected: nil, deselected: 0)
      end

      def note(notification, outcome)
        example = notification.example
        write(e: "test", id: "#{example.file_path}::#{example.full_description}", o: outcome)
      end

      def write(line)
        return unless Process.pid == @pid
        File.open(@file, "a", 0o600) { |file| file.write(JSON.generate(line) + "\n") }
      rescue StandardError
        nil
      end
    end
  end

  folder = ENV["FOUNDRY_TEST_REPORTS"]
  if folder && !ENV["FOUNDRY_TEST_SESSION"]
    RSpec.configure do |config|
      config.before(:suite) do
        begin
          ENV["FOUNDRY_TEST_SESSION"] = "rspec"
          events = [:example_passed, :example_failed, :example_pending, :stop]
          config.reporter.register_listener(FoundryTests::Listener.new(folder), *events)
        rescue StandardError
          nil
        end
      end
    end
  end
rescue StandardError, LoadError
  nil
end
